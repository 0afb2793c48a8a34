/*
 * The order of search results; see `html_search_scorer` in conf.py.
 *
 * Sphinx gives a page 15 points if a heading contains a word of the query, else 5. Pages
 * with equal points are sorted by title. This scorer adds 2 points for each word of the
 * query in the title, and subtracts points from pages that few people look for first.
 */

// JSON, which tests/site_search.py reads
const DEDUCTIONS = {
  "CHANGELOG": 8,
  "CONTRIBUTING": 8,
  "adding_a_measure": 8,
  "api/": 5,
  "architecture": 8,
  "auto_gallery/": 5,
  "formats": 3,
  "genindex": 8,
  "glossary": 3,
  "notebooks/": 5,
  "related": 3,
  "maintaining": 8,
  "performance": 4,
  "project": 8,
  "explanations": 8,
  "reference": 8,
  "examples": 8,
  "howto/index": 8,
  "results": 3,
  "stability": 8,
  "yang2016": 3
};

var Scorer = {
  score: ([page, title, anchor, description, points, file, kind]) => {
    const query = new URLSearchParams(window.location.search).get("q") || "";
    const stemmer = new Stemmer();
    const words = splitQuery(query.toLowerCase())
      .filter((word) => word.length > 2 && !stopwords.has(word))
      .map((word) => stemmer.stemWord(word));
    const inTitle = words.filter((word) => title.toLowerCase().includes(word));
    const place = Object.keys(DEDUCTIONS).find((start) => page.startsWith(start));
    // an entry of the glossary has up to 100 points, and a title has up to 16
    const scaled = kind === "index" ? 0.15 * points : points;
    return scaled + 2 * new Set(inTitle).size - (DEDUCTIONS[place] || 0);
  },
  // the values of Sphinx
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
