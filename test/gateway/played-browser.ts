import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { text } from 'node:stream/consumers'

/** An answer, as a browser sees it. */
export interface Seen {
  readonly url: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const NAVIGATION = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

/** A browser as far as a gateway can tell: cookies of one host each, redirects, and the metadata of its requests. */
export class PlayedBrowser {
  /** Cookies by host, then by name. */
  readonly cookies = new Map<string, Map<string, string>>()
  /** The addresses that it was at, in their order. */
  readonly visited: string[] = []

  /** The `Cookie` header for a host. */
  cookieFor(host: string): string {
    return [...(this.cookies.get(host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  /** Sends one request, with the cookies of its host. */
  async send(url: string, options: RequestOptions = {}, body?: string | Buffer): Promise<Seen> {
    const answer = await this.open(url, options, body)
    return { url, status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) }
  }

  /** Sends one request; answers as soon as the answer begins. */
  async open(url: string, options: RequestOptions = {}, body?: string | Buffer): Promise<IncomingMessage> {
    const outgoing = this.request(url, options)
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve).once('error', reject)
    })
    outgoing.end(body)
    return this.#kept(url, await answered)
  }

  /** A request that the test writes itself. */
  request(url: string, { headers, ...options }: RequestOptions = {}) {
    const { hostname, host, pathname, port, search } = new URL(url)
    this.visited.push(url)
    const cookie = this.cookieFor(hostname)
    const own = { host, ...(cookie !== '' && { cookie }) }
    return request({
      ...{ host: '127.0.0.1', port, servername: hostname, rejectUnauthorized: false, agent: false },
      ...{ path: `${pathname}${search}`, ...options },
      headers: { ...own, ...headers },
    })
  }

  /** Goes to an address and where it leads, as a window does. */
  async goTo(url: string, method = 'GET', form?: Readonly<Record<string, string>>): Promise<Seen> {
    const body = form && new URLSearchParams(form).toString()
    const headers = {
      ...NAVIGATION,
      ...(body && { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(url).origin }),
    }
    const seen = await this.send(url, { method, headers }, body)
    const next = seen.headers.location ?? /http-equiv="refresh" content="0;url=([^"]+)"/.exec(seen.body)?.[1]
    return next === undefined ? seen : this.goTo(new URL(next.replaceAll('&amp;', '&'), url).href)
  }

  /** Opens an address, logs in on the page that it leads to, and answers what is shown then. */
  async logIn(url: string, { username, password }: { username: string; password: string }): Promise<Seen> {
    const page = await this.goTo(url)
    const id = /name="id" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
    return this.goTo(new URL('/oidc/login/username', page.url).href, 'POST', { id, username, password })
  }

  #kept(url: string, answer: IncomingMessage): IncomingMessage {
    const { hostname } = new URL(url)
    const own = this.cookies.get(hostname) ?? new Map<string, string>()
    this.cookies.set(hostname, own)
    for (const cookie of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=;]*)=([^;]*)/.exec(cookie) ?? []
      own.set(name, value)
    }
    return answer
  }
}
