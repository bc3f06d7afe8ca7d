/** Bound to this host and to TLS by its name; it proves nothing but that a browser is the one that was sent away. */
const NAME = '__Host-portcullis-login'
const SECRET = /^[0-9a-f-]{36}$/

/** What a browser keeps while somebody logs in elsewhere; `undefined` where it brings nothing of the kind. */
export function browserSecret(headers: Headers): string | undefined {
  const cookies = (headers.get('cookie') ?? '').split(';').map((cookie) => cookie.trim().split('='))
  const [, secret = ''] = cookies.find(([name]) => name === NAME) ?? []
  return SECRET.test(secret) ? secret : undefined
}

/** Lets a browser keep a secret for ten minutes, out of reach of scripts. */
export function browserCookie(secret: string): Readonly<Record<string, string>> {
  return { 'set-cookie': `${NAME}=${secret}; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax` }
}
