/** The words, the HTML and the style of pages for people, and where logins lead back to, for the adapters that show such pages. */

export { SYSTEM_CALL } from './context/call.ts'
export { ownExplanationText } from './facts/access/explain/index.ts'
export { DEFAULT_REDIRECT_URIS } from './facts/oidc/auth-request.rules.ts'
export { Html, html } from './http/html.ts'
export { PAGE_STYLE } from './http/page-style.ts'
