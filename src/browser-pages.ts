/** The words, the HTML and the style of pages for people, for the adapters that show pages beside those of the APIs. */

export { ownExplanationText } from './facts/access/explain/index.ts'
export { Html, html } from './http/html.ts'
export { PAGE_STYLE } from './http/page-style.ts'
