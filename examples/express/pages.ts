const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign)
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title></head>
  <body><main><h1>${escaped(title)}</h1>${body}</main></body>
</html>`
}

/** Asks for a user name and a password; says what was wrong with those of before. */
export function loginPage(problem?: string): string {
  return page(
    'Log in',
    `${problem === undefined ? '' : `<p role="alert">${escaped(problem)}</p>`}
<form method="post" action="/login">
  <p><label>User name <input name="username" autocomplete="username" required></label></p>
  <p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
  <p><button>Log in</button></p>
</form>`,
  )
}

/** Lists services by their names. */
export function servicesPage(names: readonly string[]): string {
  const items = names.map((name) => `<li>${escaped(name)}</li>`).join('')
  return page('Services', `<ul>${items}</ul><form method="post" action="/logout"><button>Log out</button></form>`)
}
