"use strict";
const answer = document.getElementById("answer");
const response = {};
for (const field of answer.querySelectorAll("input")) response[field.name] = field.value;
if ("expires_in" in response) response.expires_in = Number(response.expires_in);
const receiver = window.opener || (window.parent === window ? null : window.parent);
// The browser delivers it to this origin only.
if (receiver) receiver.postMessage({ type: "authorization_response", response }, answer.dataset.origin);
