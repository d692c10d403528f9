"use strict";
const answer = document.getElementById("answer");
const response = {};
for (const field of answer.querySelectorAll("input")) response[field.name] = field.value;
if ("expires_in" in response) response.expires_in = Number(response.expires_in);
const receiver = window.opener || (window.parent === window ? null : window.parent);
// Of another origin nobody gets it: the browser sees to that.
if (receiver) receiver.postMessage({ type: "authorization_response", response }, answer.dataset.origin);
