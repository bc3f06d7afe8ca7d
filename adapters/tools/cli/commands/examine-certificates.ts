import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { DAY_MS } from '../../../../src/base/time.ts'
import type { PkiStatus } from '../../../../src/index.ts'
import { PkiFileError, type PkiFiles, pkiFilesIn, readPkiFiles } from '../../../web/node/index.ts'
import type { GivenOptions } from '../command-line/options.ts'
import type { Setting } from '../command-line/usage.ts'
import { readAddress } from '../input/address.ts'
import { type STORAGE_OPTIONS, withOperator } from '../input/open-storage.ts'
import { holdersOf, isEmpty } from '../output.ts'
import type { PkiSource } from './serve/limit-options.ts'
import { exposureNotes } from './serve/option-declarations.ts'

/** Something that was looked at. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'wrong'
  readonly about: 'database' | 'webhooks' | 'options' | 'certificates' | 'backups' | 'storage' | 'network' | 'runtime'
  readonly text: string
}

/** The instant, and how soon is soon; both in ms. */
interface Moment {
  readonly now: number
  readonly soonMs: number
}

/** The parts of a PKI that hold certificates. */
const CERTIFICATE_PARTS = ['caPem', 'signingCertPem', 'serverCertPem'] as const
type CertificatePart = (typeof CERTIFICATE_PARTS)[number]

/**
 * Finds problems of the certificates and keys, and of the permissions on them and the database. The parts in `replaced` have successors in
 * the storage, so they may expire.
 */
export async function examineCertificates(
  source: PkiSource,
  storage: Setting,
  moment: Moment,
  replaced: readonly CertificatePart[] = [],
): Promise<readonly Finding[]> {
  const files = source.kind === 'files' ? source.files : pkiFilesIn(source.directory)
  const exposed = (await exposureNotes(storage, files)).map((note) =>
    finding('warning', note.replace(/^warning: /, '')),
  )
  if (source.kind === 'directory' && !existsSync(source.directory)) {
    return [finding('warning', `there is no folder ${source.directory}: --pki names it`), ...exposed]
  }
  return [...(await examineFiles(files, moment, replaced)), ...exposed]
}

async function examineFiles(
  files: PkiFiles,
  moment: Moment,
  replaced: readonly CertificatePart[],
): Promise<readonly Finding[]> {
  try {
    const material = await readPkiFiles(files)
    const used = CERTIFICATE_PARTS.filter((part) => !replaced.includes(part))
    const findings = used.flatMap((part) => examineChain(files[part], material[part], moment))
    return findings.length > 0 ? findings : [finding('ok', 'those of the controller are valid, and for long enough')]
  } catch (error) {
    if (error instanceof PkiFileError) return [finding('wrong', error.message)]
    throw error
  }
}

function examineChain(file: string, pem: string, { now, soonMs }: Moment): readonly Finding[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.flatMap((block) => {
    const { subject, validFrom, validTo } = new X509Certificate(block)
    const name = `${file} (${subject.replaceAll('\n', ', ')})`
    const day = new Date(validTo).toISOString().slice(0, 10)
    if (Date.parse(validTo) <= now) return [finding('wrong', `${name} expired on ${day}`)]
    if (Date.parse(validFrom) > now) return [finding('wrong', `${name} is not valid yet: is the clock right?`)]
    return Date.parse(validTo) - now <= soonMs ? [finding('warning', `${name} expires on ${day}`)] : []
  })
}

function finding(level: Finding['level'], text: string): Finding {
  return { level, about: 'certificates', text }
}

type KeyOptions = GivenOptions<keyof typeof STORAGE_OPTIONS | 'advertise'>

/** The findings on the keys in use, and which files have followers in the storage. */
interface KeyFindings {
  readonly findings: readonly Finding[]
  readonly replaced: readonly CertificatePart[]
}

const NOTHING: KeyFindings = { findings: [], replaced: [] }

/** Finds problems of the present keys of a network: the keys of the files, or their successors. Throws {@link UsageError}. */
export async function examineKeys(options: KeyOptions, source: PkiSource, moment: Moment): Promise<KeyFindings> {
  if (source.kind === 'directory' && !existsSync(source.directory)) return NOTHING
  try {
    const material = await readPkiFiles(source.kind === 'files' ? source.files : pkiFilesIn(source.directory))
    const status = await withOperator(options, ({ keys }) => keys.status(moment.soonMs / DAY_MS).catch(messageOf), {
      pki: material,
    })
    if (typeof status === 'string')
      return {
        ...NOTHING,
        findings: [finding('wrong', `the stored values cannot be opened with these keys: ${status}`)],
      }
    const expiresAt = Date.parse(new X509Certificate(material.serverCertPem).validTo)
    const isServerReplaced = Date.parse(status.server.expiresAt) !== expiresAt
    const isAuthorityReplaced = status.authorities.findIndex(({ state }) => state === 'issuing') > 0
    return {
      findings: [
        ...addressFindings(status, options),
        ...(isAuthorityReplaced ? authorityFindings(status, moment) : []),
        ...holderFindings(status, moment),
      ],
      replaced: [
        ...(isServerReplaced ? (['serverCertPem'] as const) : []),
        ...(isAuthorityReplaced ? (['caPem', 'signingCertPem'] as const) : []),
      ],
    }
  } catch (error) {
    // The findings on the files themselves report these problems.
    if (error instanceof PkiFileError) return NOTHING
    throw error
  }
}

/** The server's certificate has to name the host that devices connect to. */
function addressFindings({ server }: PkiStatus, options: KeyOptions): readonly Finding[] {
  const advertised = options.setting('advertise')
  if (advertised === undefined) return []
  const { host } = readAddress(advertised, 0)
  if (server.hosts.includes(host)) return []
  const text = `the certificate of the server is not for ${host}, which devices are told, but for ${server.hosts.join(', ')}`
  return [finding('wrong', text)]
}

/** An authority of the storage that signs, and has run out or soon will. */
function authorityFindings({ authorities }: PkiStatus, { now, soonMs }: Moment): readonly Finding[] {
  const issuing = authorities.find(({ state }) => state === 'issuing')
  return [issuing?.signing, issuing?.root].flatMap((part) => {
    if (part?.expiresAt == null) return []
    const day = part.expiresAt.slice(0, 10)
    const end = Date.parse(part.expiresAt)
    if (end <= now) return [finding('wrong', `${part.subject}, which is stored, expired on ${day}`)]
    return end - now <= soonMs ? [finding('warning', `${part.subject}, which is stored, expires on ${day}`)] : []
  })
}

/** Identities and routers that are locked out, soon will be, or have no certificate of the latest authority yet. */
function holderFindings({ due: { outstanding, ending, ended } }: PkiStatus, { soonMs }: Moment): readonly Finding[] {
  const days = Math.round(soonMs / DAY_MS)
  const named = 'portcullis pki status --outstanding names them, and says what helps'
  const over = 'locked out, because their certificates or the authority of these have ended'
  return [
    ...(isEmpty(ended) ? [] : [finding('wrong', `${over}: ${holdersOf(ended)}`)]),
    ...(isEmpty(ending) ? [] : [finding('warning', `let in for less than ${days} days still: ${holdersOf(ending)}`)]),
    ...(isEmpty(outstanding)
      ? []
      : [finding('warning', `without a certificate of the latest authority: ${holdersOf(outstanding)}; ${named}`)]),
  ]
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
