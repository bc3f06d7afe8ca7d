/** The style of pages for people: colours of at least 7:1 in both schemes, a visible focus, and nothing that needs a script. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --page: #f3f5f7; --card: #fff; --line: #6b7480; --accent: #0b4f8a; --on: #fff; --bad: #8f1020; }
@media (prefers-color-scheme: dark) {
  :root { --text: #eef1f4; --page: #14181c; --card: #1f252b; --line: #9aa5b1; --accent: #9fd0ff; --on: #0b1a28; --bad: #ffb3ba; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 26rem; margin: 8vh auto; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
h1 { margin: 0 0 1rem; font-size: 1.4rem; }
ul.signers { margin: 0; padding: 0; list-style: none; }
h2 { margin: 1.5rem 0 .5rem; font-size: 1.1rem; }
label { display: block; margin-top: 1rem; font-weight: 600; }
input { width: 100%; padding: .6rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .25rem; }
button, a.button { display: block; width: 100%; text-align: center; text-decoration: none; margin-top: 1.25rem; padding: .7rem; font: inherit; font-weight: 600; color: var(--on); background: var(--accent); border: 1px solid var(--accent); border-radius: .25rem; cursor: pointer; }
button.other, a.other { color: var(--text); background: transparent; border-color: var(--line); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.error { padding: .75rem; color: var(--bad); border: 2px solid var(--bad); border-radius: .25rem; }
.hint { font-size: .9rem; }
img { display: block; width: 16rem; height: 16rem; max-width: 100%; margin: 1rem auto; background: #fff; }
code { overflow-wrap: anywhere; }
.codes { columns: 2; padding-left: 1.5rem; font-family: ui-monospace, monospace; }
`
