"use strict";
// Adds a button that copies the text before it. Browsers offer no clipboard to pages that others could have changed.
if (navigator.clipboard) {
    for (const text of document.querySelectorAll(".copy")) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "second copies";
        button.textContent = "Copy";
        button.addEventListener("click", async () => {
            await navigator.clipboard.writeText(text.textContent);
            button.textContent = "Copied";
            setTimeout(() => { button.textContent = "Copy"; }, 2000);
        });
        text.after(" ", button);
    }
}
