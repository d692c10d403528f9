"use strict";
// Shows the server what stands after the "#" of the address, which browsers do not send: the tokens of an answer in
// the fragment.
const given = new URLSearchParams(location.hash.slice(1));
if (["access_token", "id_token", "code", "error"].some(name => given.has(name))) {
    const form = document.createElement("form");
    form.method = "post";
    form.action = location.pathname + location.search;
    for (const [name, value] of given) {
        const field = document.createElement("input");
        field.type = "hidden";
        field.name = name;
        field.value = value;
        form.append(field);
    }
    document.body.append(form);
    // A field may be named "submit" and hide the form's own method of that name.
    HTMLFormElement.prototype.submit.call(form);
}
