/** The label of the home unless the host of the gateway chooses another one. */
export const DEFAULT_HOME = 'home'

/** The names under which a gateway answers: one label before a common suffix, such as `payroll.apps.example`. */
export class GatewayHosts {
  readonly #suffix: string
  /** The label of the page that lists apps and begins logins. */
  readonly home: string

  /** Takes `*.apps.example`, with a port unless it is 443. Throws a `TypeError` for any other pattern. */
  constructor(pattern: string, home: string) {
    const problem = hostsProblem(pattern)
    if (problem !== undefined) throw new TypeError(`gateway: hosts ${problem}`)
    if (!LABEL.test(home))
      throw new TypeError(`gateway: home takes one label of a DNS name, such as 'home', not '${home}'`)
    this.#suffix = pattern.slice(1).toLowerCase()
    this.home = home
  }

  /** The label of a `Host` header; undefined for a host of another name, another port or several labels. */
  labelOf(host: string | undefined): string | undefined {
    const lower = host?.toLowerCase() ?? ''
    const bare = this.#suffix.includes(':') ? lower : lower.replace(/:443$/, '')
    if (!bare.endsWith(this.#suffix)) return undefined
    const label = bare.slice(0, -this.#suffix.length)
    return LABEL.test(label) ? label : undefined
  }

  /** The host of a label, as a browser sends it. */
  hostOf(label: string): string {
    return `${label}${this.#suffix}`
  }

  /** The same without the port, as DNS and certificates have it. */
  nameOf(label: string): string {
    return this.hostOf(label).replace(/:\d+$/, '')
  }

  originOf(label: string): string {
    return `https://${this.hostOf(label)}`
  }

  /** Reports whether a service can be named by a host. In other letters it would be another service, which anybody might make. */
  names(service: string): boolean {
    return LABEL.test(service) && service !== this.home
  }
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const PATTERN = /^\*((?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+)(?::(\d{1,5}))?$/i

/** The problem of a pattern of hosts; undefined for a valid pattern. */
export function hostsProblem(pattern: string): string | undefined {
  const [, , port] = PATTERN.exec(pattern) ?? []
  if (!PATTERN.test(pattern)) return `takes a name whose first label is *, such as '*.apps.example', not '${pattern}'`
  if (port === '443') return 'leaves out the port 443, as browsers do'
  return port !== undefined && (Number(port) < 1 || Number(port) > 65_535) ? `has the port ${port}` : undefined
}

/** Paths that the gateway answers itself, on each of its hosts. */
export const OWN_PATH = '/.portcullis/'
/** Where a login comes back to. */
export const CALLBACK_PATH = `${OWN_PATH}callback`
/** Where the home of the gateway takes logins of its other hosts. */
export const LOGIN_PATH = `${OWN_PATH}login`
export const LOGOUT_PATH = `${OWN_PATH}logout`
