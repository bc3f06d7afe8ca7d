import type { TlsOptions } from 'node:tls'
import { LARGEST_PAGE } from '../../../../../src/base/limits.ts'
import { type Controller, type PkiMaterial, SYSTEM_CALL } from '../../../../../src/index.ts'
import type { AcmeCertificates } from '../../../../web/gateway/index.ts'
import { readServerFiles, tlsOptions } from '../../../../web/node/index.ts'
import { type Setting, UsageError } from '../../command-line/usage.ts'
import { tell } from '../../output.ts'
import type { Finding } from '../examine-certificates.ts'
import { followCertificate } from './certificates.ts'
import type { ServeArguments } from './option-declarations.ts'

/** Where the certificate of a gateway comes from: its files, or an ACME server that issues one for each service of some roles. */
export type CertificateSource =
  | { readonly kind: 'files'; readonly cert: string; readonly key: string }
  | {
      readonly kind: 'acme'
      readonly roles: readonly string[]
      readonly directory: string
      readonly contact: string | undefined
      readonly folder: string
    }

/** The certificates of a gateway: options of its server, and the work that goes on while it is served. */
export interface GatewayCertificates {
  readonly tls: TlsOptions
  /** Begins to put renewed certificates in use by `replace`. */
  begin(replace: (tls: TlsOptions) => void): void
  close(): Promise<void>
}

const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory'
const OPTIONS = ['gateway-cert', 'gateway-key', 'acme', 'acme-directory', 'acme-contact', 'acme-folder'] as const

/** The first option about certificates of a gateway. */
export function certificateOption({ setting, flag }: ServeArguments): string | undefined {
  const given = OPTIONS.map(setting).find((option) => option !== undefined)
  return given?.name ?? (flag('acme-agree') ? '--acme-agree' : undefined)
}

/** Reads the options about certificates of the gateway of `hosts`. Throws {@link UsageError}. */
export function readCertificateSource(hosts: Setting, { setting, flag }: ServeArguments): CertificateSource {
  const [cert, key, acme] = [setting('gateway-cert'), setting('gateway-key'), setting('acme')]
  if (acme === undefined) {
    if (cert !== undefined && key !== undefined) return { kind: 'files', cert: cert.value, key: key.value }
    throw new UsageError(
      `${hosts.name} needs --gateway-cert and --gateway-key, a certificate for ${hosts.value}, or --acme`,
    )
  }
  const file = cert ?? key
  if (file !== undefined) throw new UsageError(`${acme.name} stands in the place of ${file.name}: give one of them`)
  if (!flag('acme-agree')) {
    throw new UsageError(`${acme.name} needs --acme-agree, by which you agree to the terms of service of the server`)
  }
  const roles = acme.value.split(',').map((role) => role.trim())
  if (!roles.every((role) => /^[#@][^"\\]+$/.test(role))) {
    throw new UsageError(`${acme.name} takes roles of services with commas between, such as '#web,@payroll'`)
  }
  return {
    ...{ kind: 'acme', roles, contact: setting('acme-contact')?.value },
    directory: setting('acme-directory')?.value ?? LETS_ENCRYPT,
    folder: setting('acme-folder')?.value ?? '.portcullis/acme',
  }
}

/** Finds that a package is needed and cannot be loaded. */
export async function examineCertificateSource(source: CertificateSource | undefined): Promise<readonly Finding[]> {
  if (source?.kind !== 'acme') return []
  return import('acme-client').then(
    () => [],
    () => [{ level: 'wrong', about: 'runtime', text: '--acme takes the package acme-client: npm install acme-client' }],
  )
}

/** Opens the certificates of a gateway. Throws {@link UsageError} for options that cannot be used. */
export async function openGatewayCertificates(
  source: CertificateSource,
  hosts: string,
  controller: Controller,
): Promise<GatewayCertificates> {
  if (source.kind === 'acme') return byAcme(source, hosts, controller)
  const files = { serverCertPem: source.cert, serverKeyPem: source.key }
  const inUse = await readServerFiles(files)
  let stop: () => void = () => undefined
  return {
    tls: tlsOf(inUse),
    begin: (replace) => {
      const put = (renewed: ServerPart) => {
        replace(tlsOf(renewed))
        return []
      }
      stop = followCertificate(files, inUse, { what: 'certificate of the gateway', put })
    },
    close: async () => stop(),
  }
}

type ServerPart = Pick<PkiMaterial, 'serverCertPem' | 'serverKeyPem'>

function tlsOf({ serverCertPem: cert, serverKeyPem: key }: ServerPart): TlsOptions {
  return tlsOptions({ cert, key })
}

async function byAcme(
  { roles, directory, contact, folder }: CertificateSource & { readonly kind: 'acme' },
  hosts: string,
  controller: Controller,
): Promise<GatewayCertificates> {
  const { acmeCertificates } = await import('../../../../web/gateway/index.ts')
  let certificates: AcmeCertificates
  try {
    certificates = await acmeCertificates({
      ...{ hosts, directory, folder, termsOfServiceAgreed: true, services: () => servicesOf(controller, roles) },
      ...(contact !== undefined && { contact }),
      onIssued: ({ host, notAfter }) => tell(`the certificate of ${host} is good until ${dayOf(notAfter)}`),
      onFailure: ({ host, reason, retryAt }) => {
        const next = retryAt === undefined ? '' : `; the next order is made at ${new Date(retryAt).toISOString()}`
        tell(`no certificate by ACME${host === undefined ? '' : ` for ${host}`}: ${reason}${next}`)
      },
    })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`--acme: ${reason}`, { cause: error })
  }
  const stopListening = controller.events.on('entity.changed', ({ kind }) => {
    if (kind === 'services') certificates.refresh()
  })
  // Each host has a certificate of its own, and the protocols are chosen with it.
  const { cert: _cert, key: _key, ALPNProtocols: _protocols, ...policy } = tlsOptions({ cert: '', key: '' })
  return {
    tls: { ...policy, ...certificates.tls },
    begin: () => undefined,
    close: async () => {
      stopListening()
      await certificates.close()
    },
  }
}

/** More services than can have certificates: the library says how many there may be. */
const MOST = 2000

/** The names of the services that have one of the roles. */
async function servicesOf(controller: Controller, roles: readonly string[]): Promise<readonly string[]> {
  const chosen = roles.map((role) =>
    role.startsWith('@') ? `name = "${role.slice(1)}"` : `anyOf(roleAttributes) = "${role.slice(1)}"`,
  )
  const filter = roles.includes('#all') ? {} : { filter: chosen.join(' or ') }
  const names: string[] = []
  for (let offset = 0; offset < MOST; offset += LARGEST_PAGE) {
    // Later services take nothing from older services.
    const question = { ...filter, sort: 'createdAt', limit: LARGEST_PAGE, offset }
    const { items } = await controller.engine.services.list(SYSTEM_CALL, question)
    names.push(...items.map(({ name }) => name))
    if (items.length < LARGEST_PAGE) break
  }
  return names
}

function dayOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10)
}
