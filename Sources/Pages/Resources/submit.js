"use strict";
// A field may be named "submit" and hide the form's own method of that name.
HTMLFormElement.prototype.submit.call(document.forms[0]);
