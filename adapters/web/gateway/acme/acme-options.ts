import type { TlsOptions } from 'node:tls'
import type { OptionRules } from '../../../../src/base/arguments.ts'
import type { Clock, Scheduler } from '../../../../src/index.ts'
import { hostsProblem } from '../gateway-hosts.ts'

/** The settings of certificates by ACME (RFC 8555). */
export interface AcmeOptions {
  /** The hosts of the gateway, `*.apps.example`. */
  readonly hosts: string
  /** The label of its home; `home` unless given. */
  readonly home?: string
  /**
   * The services whose hosts get certificates, beside the home: at most 999. It is called at the beginning, every hour, and after `refresh`.
   * Public servers publish the names in every certificate.
   */
  readonly services: () => readonly string[] | Promise<readonly string[]>
  /** The address of the server's directory, such as `https://acme-v02.api.letsencrypt.org/directory`. Without TLS on this machine alone. */
  readonly directory: string
  /** True: you agree to the terms of service of the server. */
  readonly termsOfServiceAgreed: true
  /** The address for mails of the server; none unless given. */
  readonly contact?: string
  /** The folder of the account, its certificates and their keys. It is made where it is absent. */
  readonly folder: string
  /** Called with the host of every new certificate, and the instant of its end in epoch ms. */
  readonly onIssued?: (issued: { readonly host: string; readonly notAfter: number }) => void
  /** Called with every failure; a process warning unless given. */
  readonly onFailure?: (failure: AcmeFailure) => void
  /** The clock of the process unless given. */
  readonly clock?: Clock
  /** The timers of the process unless given. */
  readonly scheduler?: Scheduler
}

/** A failure of an order. */
export interface AcmeFailure {
  /** The host whose certificate was ordered; undefined if the failure is of no host. */
  readonly host: string | undefined
  readonly reason: string
  /** When the next order may be made, epoch ms; undefined if nothing waits for it. */
  readonly retryAt: number | undefined
}

/** Certificates of the hosts of a gateway. `await using` closes them at the end of a block. */
export interface AcmeCertificates extends AsyncDisposable {
  /** Options for a server of `node:https`: it shows a certificate of its own for each host, and answers the challenges of the server. */
  readonly tls: Pick<TlsOptions, 'SNICallback' | 'ALPNCallback'>
  /** Asks for the services again within a second. */
  refresh(): void
  /** Ends the order under way. The next start goes on with it. */
  close(): Promise<void>
}

/** The shapes of these settings. */
export const ACME_OPTIONS: OptionRules<AcmeOptions> = {
  hosts: { shape: 'string', isNeeded: true, hint: "a name such as '*.apps.example'", problem: hostsProblem },
  home: 'string',
  services: { shape: 'function', isNeeded: true, hint: 'a function that answers the names of services' },
  directory: { shape: 'string', isNeeded: true, hint: 'the address of the directory', problem: directoryProblem },
  termsOfServiceAgreed: {
    shape: 'boolean',
    isNeeded: true,
    hint: 'true, by which you agree to the terms of service of the server',
    problem: (agreed: boolean) => (agreed ? undefined : 'takes true: the server needs it'),
  },
  contact: { shape: 'string', problem: contactProblem },
  folder: { shape: 'string', isNeeded: true, hint: 'the path of a folder' },
  onIssued: 'function',
  onFailure: 'function',
  clock: { functions: ['now'] },
  scheduler: { functions: ['at'] },
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

function directoryProblem(directory: string): string | undefined {
  const { protocol, hostname } = URL.canParse(directory) ? new URL(directory) : { protocol: '', hostname: '' }
  if (protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))) return undefined
  return `takes an address that begins with https://, not '${directory}'`
}

function contactProblem(contact: string): string | undefined {
  return /^[^\s@,?]+@[^\s@,?]+$/.test(contact) ? undefined : `takes one mail address, not '${contact}'`
}
