/** The style of pages for people: the colours of the explorer (a test compares them), which need no recent browser, and no script. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --surface: #f6f7f9; --raised: #ffffff; --line: #d6dbe3; --line-strong: #8a93a3; --text: #1a2130; --muted: #566072; --accent: #2f56b5; --on-accent: #ffffff; --bad: #b3261e; --bad-soft: #fbeae8; --radius: 7px; }
@media (prefers-color-scheme: dark) {
  :root { --surface: #12151b; --raised: #1a1f27; --line: #303846; --line-strong: #667185; --text: #e6e9ef; --muted: #9ca6b8; --accent: #8fb0ff; --on-accent: #0e1630; --bad: #ff9a90; --bad-soft: #3a1c1a; }
}
* { box-sizing: border-box; }
body { display: grid; place-items: center; min-height: 100vh; margin: 0; padding: 16px; background: var(--surface); color: var(--text); font: .875rem/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { width: 100%; max-width: 360px; padding: 28px; background: var(--raised); border: 1px solid var(--line); border-radius: 12px; box-shadow: 0 1px 2px #1a213014, 0 4px 16px #1a21300f; overflow-wrap: anywhere; }
h1 { display: flex; align-items: center; gap: 10px; margin: 0 0 14px; font-size: 1.1875rem; font-weight: 650; line-height: 1.3; }
h1 svg { flex: none; width: 28px; height: 28px; fill: none; stroke: var(--accent); stroke-linecap: round; }
p { margin: 0 0 12px; }
ul.signers { display: grid; gap: 8px; margin: 8px 0 0; padding: 0; list-style: none; }
h2 { margin: 20px 0 6px; font-size: .9375rem; font-weight: 650; }
label { display: block; margin-bottom: 4px; font-size: .8125rem; color: var(--muted); }
input { width: 100%; min-height: 34px; margin-bottom: 12px; padding: 5px 10px; font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--line-strong); border-radius: var(--radius); }
button, a.button { display: block; width: 100%; min-height: 32px; padding: 5px 12px; text-align: center; text-decoration: none; font: inherit; font-size: .8125rem; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: var(--radius); cursor: pointer; }
button.other, a.other { font-weight: 400; color: var(--text); background: var(--raised); border-color: var(--line); }
button.other:hover, a.other:hover { border-color: var(--line-strong); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.error { padding: 8px 12px; font-size: .8125rem; color: var(--bad); background: var(--bad-soft); border-radius: var(--radius); }
.or { margin: 12px 0; text-align: center; font-size: .75rem; color: var(--muted); }
.hint { font-size: .8125rem; color: var(--muted); }
img { display: block; width: 16rem; height: 16rem; max-width: 100%; margin: 14px auto; background: #fff; border-radius: var(--radius); }
.codes { columns: 2; margin: 0; padding-left: 1.5rem; }
code, .codes { font-family: ui-monospace, "Liberation Mono", Menlo, monospace; }
`
