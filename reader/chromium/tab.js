// Runs at the start of each document, in a world of its own.
(() => {
  let changed = performance.now();
  let taken = "";
  new MutationObserver(() => { changed = performance.now(); })
    .observe(document, { subtree: true, childList: true, characterData: true });
  // Milliseconds since the document changed.
  globalThis.still = () => performance.now() - changed;
  // Keeps the document as it is now, and gives its beginning.
  globalThis.take = (length) => {
    const root = document.documentElement;
    taken = root ? "<!DOCTYPE html>" + root.outerHTML : "";
    if (taken.toWellFormed) taken = taken.toWellFormed();
    return { url: location.href, size: taken.length, start: part(0, length) };
  };
  // A part of what was kept that does not end within a character.
  globalThis.part = (from, length) => {
    let end = from + length;
    const last = taken.charCodeAt(end - 1);
    if (last >= 0xd800 && last <= 0xdbff) end++;
    return taken.slice(from, end);
  };
})();
