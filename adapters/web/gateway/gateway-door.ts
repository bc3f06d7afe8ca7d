import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ExplainingAccess, isLoginEnd, refusalAnswer } from './access-refusal.ts'
import { type AppExchange, type AppTimes, forwardRequest } from './app-request.ts'
import { answerOn, asksForWebsocket, forwardUpgrade } from './app-upgrade.ts'
import { type BrowserLogins, sessionCookie } from './browser-login.ts'
import type { CallerHeaders } from './forwarded-headers.ts'
import { CALLBACK_PATH, type GatewayHosts, LOGIN_PATH, LOGOUT_PATH, OWN_PATH } from './gateway-hosts.ts'
import type { GatewayLogin, GatewayLogins } from './gateway-logins.ts'
import { appsPage, type GatewayAnswer, redirect, sendAnswer, wantsPage } from './gateway-pages.ts'
import { crossSiteProblem, framingProblem } from './request-checks.ts'

/** The parts of a gateway that answer requests. */
export interface DoorParts {
  readonly hosts: GatewayHosts
  readonly logins: GatewayLogins
  readonly browsers: BrowserLogins
  readonly access: ExplainingAccess
  readonly callerHeaders: CallerHeaders
  serves(service: string): boolean
  readonly maxCircuits: number
  /** The circuits of a login bound this connection, which no other takes the place of. */
  keep(socket: Socket): void
  readonly times: AppTimes
  onError(error: unknown): void
}

/** The way of a request to its app. */
type Forwarding = (exchange: AppExchange) => void

/** Answers requests: those of the gateway itself, and those of apps by the identity that is logged in. */
export class GatewayDoor {
  readonly #parts: DoorParts

  constructor(parts: DoorParts) {
    this.#parts = parts
  }

  request(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#answer(incoming, outgoing, false, (exchange) => {
      if (incoming.headers.expect !== undefined) outgoing.writeContinue()
      forwardRequest(exchange, outgoing)
    })
  }

  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    const outgoing = answerOn(incoming, socket)
    if (!asksForWebsocket(incoming)) sendAnswer(incoming, outgoing, NO_UPGRADE)
    else this.#answer(incoming, outgoing, true, (exchange) => forwardUpgrade(exchange, socket, head, outgoing))
  }

  #answer(incoming: IncomingMessage, outgoing: ServerResponse, isUpgrade: boolean, forward: Forwarding): void {
    this.#route(incoming, outgoing, isUpgrade, forward).then(
      (answer) => answer && sendAnswer(incoming, outgoing, answer),
      (error: unknown) => {
        this.#parts.onError(error)
        sendAnswer(incoming, outgoing, BROKEN)
      },
    )
  }

  /** The answer of the gateway; undefined if the app answers. */
  async #route(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    isUpgrade: boolean,
    forward: Forwarding,
  ): Promise<GatewayAnswer | undefined> {
    const { hosts, logins, serves } = this.#parts
    const label = hosts.labelOf(incoming.headers.host)
    if (label === undefined) return OTHER_HOST
    const unclear = framingProblem(incoming)
    if (unclear !== undefined) return { ...UNCLEAR, text: unclear }
    if (incoming.method === 'TRACE' || incoming.method === 'CONNECT') return NO_METHOD
    const foreign = crossSiteProblem(incoming, hosts.originOf(label), isUpgrade)
    if (foreign !== undefined) return { ...FOREIGN, text: foreign }
    // The path follows the origin: '//a' is a path too.
    const { pathname, searchParams } = new URL(`${hosts.originOf(label)}${incoming.url ?? '/'}`)
    const login = logins.find(sessionCookie(incoming), label)
    if (label === hosts.home || incoming.url?.startsWith(OWN_PATH)) {
      if (isUpgrade) return NO_UPGRADE
      return this.#own(incoming, label, `${incoming.method} ${pathname}`, searchParams, login)
    }
    if (login === undefined) return this.#logIn(incoming, label, isUpgrade)
    if (!serves(label)) return NOT_SERVED
    if (login.open >= this.#parts.maxCircuits) return TOO_MANY
    this.#forward(incoming, outgoing, { label, login, isUpgrade }, forward)
    return undefined
  }

  /** Paths of the gateway, and everything at its home. */
  async #own(
    incoming: IncomingMessage,
    label: string,
    route: string,
    query: URLSearchParams,
    login: GatewayLogin | undefined,
  ): Promise<GatewayAnswer> {
    const { browsers, hosts, logins } = this.#parts
    const isHome = label === hosts.home
    if (route === `GET ${CALLBACK_PATH}`) return browsers.callback(incoming, label, query)
    if (route === `GET ${LOGIN_PATH}` && isHome) return browsers.atHome(incoming, query)
    if (route === `POST ${LOGOUT_PATH}`) {
      if (login !== undefined) await logins.end(login)
      return LOGGED_OUT
    }
    if (route === 'GET /' && isHome) {
      return login === undefined ? browsers.begin(incoming, label, '') : this.#apps(incoming, login)
    }
    return route === `GET ${OWN_PATH}` ? redirect(`${hosts.originOf(hosts.home)}/`) : NOT_FOUND
  }

  async #apps(incoming: IncomingMessage, login: GatewayLogin): Promise<GatewayAnswer> {
    const { browsers, hosts, logins, serves } = this.#parts
    try {
      const services = await login.identity.services()
      const names = services.filter(({ mayDial, name }) => mayDial && hosts.names(name) && serves(name))
      const apps = names.map(({ name }) => ({ name, url: `${hosts.originOf(name)}/` }))
      return appsPage(login.who.name, apps)
    } catch (error) {
      if (!isLoginEnd(error)) throw error
      await logins.end(login)
      return browsers.begin(incoming, hosts.home, '')
    }
  }

  async #logIn(incoming: IncomingMessage, label: string, isUpgrade: boolean): Promise<GatewayAnswer> {
    const { method, url = '/' } = incoming
    const isPage = !isUpgrade && (method === 'GET' || method === 'HEAD') && wantsPage(incoming)
    return isPage ? this.#parts.browsers.begin(incoming, label, url) : LOG_IN
  }

  #forward(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    { label, login, isUpgrade }: { readonly label: string; readonly login: GatewayLogin; readonly isUpgrade: boolean },
    forward: Forwarding,
  ): void {
    const { callerHeaders, hosts, logins, times } = this.#parts
    this.#parts.keep(incoming.socket)
    login.open += 1
    const over = () => {
      login.open -= 1
      logins.use(login)
    }
    if (isUpgrade) incoming.socket.once('close', over)
    else outgoing.once('close', over)
    const exchange: AppExchange = {
      ...{ incoming, login, times, callerHeaders, service: label, host: hosts.hostOf(label), caller: login.who },
      fail: (error) => {
        this.#refused(incoming, label, login, isUpgrade, error).then(
          (answer) => sendAnswer(incoming, outgoing, answer),
          (failure: unknown) => {
            this.#parts.onError(failure)
            outgoing.destroy()
          },
        )
      },
    }
    forward(exchange)
  }

  async #refused(
    incoming: IncomingMessage,
    label: string,
    login: GatewayLogin,
    isUpgrade: boolean,
    error: unknown,
  ): Promise<GatewayAnswer> {
    if (!isLoginEnd(error)) return refusalAnswer(this.#parts.access, login, label, error)
    await this.#parts.logins.end(login)
    return this.#logIn(incoming, label, isUpgrade)
  }
}

const BROKEN: GatewayAnswer = {
  ...{ status: 500, code: 'UNHANDLED', title: 'Something went wrong', text: 'Try again in a moment.' },
}
const OTHER_HOST: GatewayAnswer = {
  ...{ status: 421, code: 'OTHER_HOST', title: 'Not here', text: 'This address serves no host of that name.' },
}
const UNCLEAR = { status: 400, code: 'UNCLEAR_REQUEST', title: 'The request is unclear' }
const FOREIGN = { status: 403, code: 'CROSS_SITE', title: 'Asked for by another site' }
const NO_METHOD: GatewayAnswer = {
  ...{ status: 405, code: 'METHOD_NOT_ALLOWED', title: 'Not allowed', text: 'The method is not served.' },
}
const NO_UPGRADE: GatewayAnswer = {
  ...{ status: 400, code: 'NO_UPGRADE', title: 'No such protocol', text: 'A connection changes to websocket alone.' },
}
const LOG_IN: GatewayAnswer = {
  ...{ status: 401, code: 'NOT_LOGGED_IN', title: 'Not logged in', text: 'Open the app in a window to log in.' },
}
const NOT_SERVED: GatewayAnswer = {
  ...{ status: 403, code: 'NOT_SERVED', title: 'Not for browsers', text: 'This service is not open to browsers.' },
}
const TOO_MANY: GatewayAnswer = {
  status: 503,
  code: 'TOO_MANY_CIRCUITS',
  title: 'Too much at once',
  text: 'This login has as many open connections as it may have.',
  headers: { 'retry-after': '1' },
}
const LOGGED_OUT: GatewayAnswer = {
  ...{ status: 200, code: 'LOGGED_OUT', title: 'Logged out', text: 'The session is over, for every app.' },
}
const NOT_FOUND: GatewayAnswer = {
  ...{ status: 404, code: 'NOT_FOUND', title: 'Nothing here', text: 'The gateway has no such page.' },
}
