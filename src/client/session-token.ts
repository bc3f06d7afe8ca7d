/** The token of the API session that requests are sent in: given, or of a login that is done again when the session is over. */
export class SessionToken {
  readonly #login: (() => Promise<string>) | undefined
  #token: Promise<string> | undefined

  constructor({ token, login }: { readonly token?: string; readonly login?: () => Promise<string> }) {
    this.#login = login
    this.#token = token === undefined ? undefined : Promise.resolve(token)
  }

  /** Answers what `send` answers, in a session; once more in a new one where the session had ended. */
  async with(send: (token: string | undefined) => Promise<Response>): Promise<Response> {
    const used = this.#current()
    const response = await send(await used)
    if (this.#login === undefined || !saysThatSessionEnded(response)) return response
    await response.body?.cancel()
    // Somebody else may have logged in again while this request was on its way.
    if (this.#token === used) this.#token = undefined
    return send(await this.#current())
  }

  #current(): Promise<string> | undefined {
    if (this.#token !== undefined || this.#login === undefined) return this.#token
    const token = this.#login()
    this.#token = token
    token.catch(() => {
      // The next request tries again.
      if (this.#token === token) this.#token = undefined
    })
    return token
  }
}

/** A refusal of the operation has status 401 as well; only that of the session, or of the access token, names its realm. */
function saysThatSessionEnded({ status, headers }: Response): boolean {
  const challenge = headers.get('www-authenticate') ?? ''
  return status === 401 && REALMS.some((realm) => challenge.includes(realm))
}

const REALMS = ['realm="zt-session"', 'realm="openziti-oidc"']
