// The search of Sphinx without a browser: node site_search.js SITE < QUERIES > RESULTS
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const site = process.argv[2];
const context = {
  document: { getElementById: () => null },
  localStorage: { setItem: () => {} },
  location: { search: "" },
  SPHINX_HIGHLIGHT_ENABLED: false,
  URLSearchParams,
  _: (text) => text,
  _ready: () => {},
};
context.window = context;
vm.createContext(context);
// in the order of search.html
for (const file of ["_static/searchtools.js", "_static/language_data.js", "searchindex.js"])
  vm.runInContext(fs.readFileSync(path.join(site, file), "utf8"), context);
// the page shows the list from its end
vm.runInContext(
  `search = (query) => {
    const results = Search._performSearch(...Search._parseQuery(query));
    return results.reverse().map(([page, title, , , points]) => [page, title, points]);
  };`,
  context,
);

const found = JSON.parse(fs.readFileSync(0, "utf8")).map((query) => {
  context.location.search = "?" + new URLSearchParams({ q: query });
  return context.search(query);
});
console.log(JSON.stringify(found));
