import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { PkiFileError, type PkiFiles, pkiFilesIn, readPkiFiles } from '../../../node/index.ts'
import type { Setting } from '../../command-line/usage.ts'
import type { PkiSource } from '../serve/limit-options.ts'
import { exposureNotes } from '../serve/option-declarations.ts'

/** The instant, and how soon is soon; both in ms. */
interface Moment {
  readonly now: number
  readonly soonMs: number
}

/** The parts of a PKI that hold certificates. */
const CERTIFICATE_PARTS = ['caPem', 'signingCertPem', 'serverCertPem'] as const

/** Finds problems of the certificates and keys, and who may read them and the database. */
export async function examineCertificates(
  source: PkiSource,
  storage: Setting,
  moment: Moment,
): Promise<readonly Finding[]> {
  const files = source.kind === 'files' ? source.files : pkiFilesIn(source.directory)
  const exposed = (await exposureNotes(storage, files)).map((note) =>
    finding('warning', note.replace(/^warning: /, '')),
  )
  if (source.kind === 'directory' && !existsSync(source.directory)) {
    return [finding('warning', `there is no folder ${source.directory}: --pki names it`), ...exposed]
  }
  return [...(await examineFiles(files, moment)), ...exposed]
}

async function examineFiles(files: PkiFiles, moment: Moment): Promise<readonly Finding[]> {
  try {
    const material = await readPkiFiles(files)
    const findings = CERTIFICATE_PARTS.flatMap((part) => examineChain(files[part], material[part], moment))
    return findings.length > 0 ? findings : [finding('ok', 'they are valid, and for long enough')]
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

/** Something that was looked at. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'wrong'
  readonly about: 'certificates' | 'storage' | 'network'
  readonly text: string
}
