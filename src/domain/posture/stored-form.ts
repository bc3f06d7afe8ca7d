import { normaliseHex } from './hex.ts'
import { canonicalOsType } from './os-type.ts'
import type { CheckedMultiProcess, CheckedProcess, OperatingSystem } from './posture-check.ts'
import { parseVersionRange } from './version-range.ts'

/** A value in the form that is stored, or the field that has none, named by its path below the given value. */
export type StoredForm<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly field: string; readonly reason: string; readonly value: string }

type AsGiven<Value> = Omit<Value, 'type' | 'osType'>

/**
 * The operating systems of an OS check as they are stored: named canonically, the last entry of each, sorted by name.
 * Fails on an unknown operating system (`[0].type`) or an unreadable version range (`[Linux][1]`).
 */
export function storedOperatingSystems(
  entries: readonly (AsGiven<OperatingSystem> & { readonly type: string })[],
): StoredForm<readonly OperatingSystem[]> {
  const stored: OperatingSystem[] = []
  for (const [index, { type: name, versions }] of entries.entries()) {
    const type = canonicalOsType(name)
    if (type === undefined) return unknownOs(`[${index}].type`, name)
    for (const [at, version] of versions.entries()) {
      const parsed = parseVersionRange(version)
      if (parsed.ok) continue
      const reason = `invalid version for os: [${type}], version: [${version}]: ${parsed.reason}`
      return { ok: false, field: `[${type}][${at}]`, reason, value: version }
    }
    stored.push({ type, versions })
  }
  return { ok: true, value: lastOfEach(stored, (entry) => entry.type) }
}

/** MAC addresses, hashes or fingerprints as they are stored: lower-case hex. Fails on a text without hex digits. */
export function storedHexList(texts: readonly string[]): StoredForm<readonly string[]> {
  const stored: string[] = []
  for (const [index, text] of texts.entries()) {
    const digits = normaliseHex(text)
    if (digits === undefined) return { ok: false, field: `[${index}]`, reason: 'no hex digits', value: text }
    stored.push(digits)
  }
  return { ok: true, value: stored }
}

/** The process of a PROCESS check as it is stored. Path is kept verbatim; an empty signer asks for none. */
export function storedProcess(
  process: AsGiven<CheckedProcess> & { readonly osType: string },
): StoredForm<CheckedProcess> {
  const { signerFingerprint = '' } = process
  const signerFingerprints = signerFingerprint === '' ? [] : [signerFingerprint]
  const stored = storedMultiProcess({ ...process, signerFingerprints })
  if (!stored.ok) return { ...stored, field: stored.field.replace('signerFingerprints[0]', 'signerFingerprint') }
  const { osType, path, hashes } = stored.value
  const [signer] = stored.value.signerFingerprints
  return { ok: true, value: { osType, path, hashes, ...(signer === undefined ? {} : { signerFingerprint: signer }) } }
}

/** The processes of a PROCESS_MULTI check as they are stored: the last of each system and path, sorted by both. */
export function storedProcesses(
  processes: readonly (AsGiven<CheckedMultiProcess> & { readonly osType: string })[],
): StoredForm<readonly CheckedMultiProcess[]> {
  const stored: CheckedMultiProcess[] = []
  for (const [index, process] of processes.entries()) {
    const form = storedMultiProcess(process)
    if (!form.ok) return { ...form, field: `[${index}].${form.field}` }
    stored.push(form.value)
  }
  return { ok: true, value: lastOfEach(stored, ({ osType, path }) => `${osType}-${path}`) }
}

function storedMultiProcess(
  process: AsGiven<CheckedMultiProcess> & { readonly osType: string },
): StoredForm<CheckedMultiProcess> {
  const osType = canonicalOsType(process.osType)
  if (osType === undefined) return unknownOs('osType', process.osType)
  const hashes = storedHexList(process.hashes)
  if (!hashes.ok) return { ...hashes, field: `hashes${hashes.field}` }
  const signers = storedHexList(process.signerFingerprints)
  if (!signers.ok) return { ...signers, field: `signerFingerprints${signers.field}` }
  return { ok: true, value: { osType, path: process.path, hashes: hashes.value, signerFingerprints: signers.value } }
}

function unknownOs(field: string, name: string) {
  return { ok: false, field, reason: 'unknown operating system', value: name } as const
}

/** The last value of each key, sorted by key code unit by code unit. */
function lastOfEach<Value>(values: readonly Value[], keyOf: (value: Value) => string): readonly Value[] {
  const byKey = new Map(values.map((value) => [keyOf(value), value]))
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}
