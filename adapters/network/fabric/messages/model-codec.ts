import {
  canonicalOsType,
  type ModelCodec,
  type ModelEntity,
  type ModelEvent,
  normaliseHex,
} from '../../../../src/control-channel.ts'
import type { PostureCheck } from '../../../../src/policy.ts'
import { textBytes } from '../../channel/header-values.ts'
import { BLANK, ChangeSetEvents, Event, StateEvents, type WireEvent } from './model-definitions.ts'

type Fields = typeof BLANK.postureCheck

/**
 * Stands for an absent version range, because deployed routers refuse every version without a range. It differs from the ranges of checks:
 * an unreadable version passes without a range, but does not pass `>=0.0.0`.
 */
const ANY_VERSION = '<0.0.0 || >=0.0.0'

/**
 * Deployed routers compare reports letter by letter, and endpoints differ in their spelling. One equal value of a list is enough for them,
 * so that they get each value in every spelling that endpoints are known to use. Values without hex digits stay as they are.
 */
function hexSpellings(values: readonly string[], separators: readonly string[] = []): readonly string[] {
  return values.flatMap((value) => {
    const digits = normaliseHex(value)
    if (digits === undefined) return [value]
    const pairs = digits.match(/..?/g) ?? []
    return inBothCases([digits, ...separators.map((separator) => pairs.join(separator))])
  })
}

function inBothCases(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => [text, text.toLowerCase(), text.toUpperCase()]))]
}

/** A posture check as routers read it. */
export function postureCheckFields(check: PostureCheck): Fields {
  const { id, name, typeId } = check
  return { ...BLANK.postureCheck, id, name, typeId, ...asked(check) }
}

function asked(check: PostureCheck): Partial<Fields> {
  switch (check.typeId) {
    case 'MAC':
      return { mac: { macAddresses: hexSpellings(check.macAddresses, [':', '-']) } }
    case 'MFA':
      return { mfa: check }
    case 'OS':
      return {
        osList: {
          osList: check.operatingSystems.map(({ type, versions }) => ({
            osType: type,
            osVersions: versions.length === 0 ? [ANY_VERSION] : versions,
          })),
        },
      }
    case 'PROCESS': {
      const { signerFingerprint = '', ...process } = check.process
      return { process: processFields(process, signerFingerprint === '' ? [] : [signerFingerprint]) }
    }
    case 'PROCESS_MULTI': {
      const processes = check.processes.map(({ signerFingerprints, ...process }) =>
        processFields(process, signerFingerprints),
      )
      // Deployed routers know only two words, and refuse every client for any other word.
      return { processMulti: { semantic: check.semantic === 'AllOf' ? 'AllOf' : 'AnyOf', processes } }
    }
    case 'DOMAIN':
      return { domains: { domains: inBothCases(check.domains) } }
    // The protocol has forms only for these types: of any other check routers get only the name.
    default:
      return {}
  }
}

function processFields(process: Omit<ProcessFields, 'fingerprints'>, signers: readonly string[]): ProcessFields {
  return { ...process, hashes: hexSpellings(process.hashes), fingerprints: hexSpellings(signers) }
}

/** A posture check with only its id known. */
export function unknownCheck(id: string): Fields {
  return { ...BLANK.postureCheck, id, name: id }
}

type ProcessFields = NonNullable<Fields['process']>

/** A posture check from its wire form. A check of a type without a wire form never passes. */
export function postureCheckOf({ id, name, mac, mfa, osList, process, processMulti, domains }: Fields): PostureCheck {
  if (mac !== undefined) return { id, name, typeId: 'MAC', ...mac }
  if (mfa !== undefined) return { id, name, typeId: 'MFA', ...mfa }
  if (domains !== undefined) return { id, name, typeId: 'DOMAIN', ...domains }
  if (osList !== undefined) return { id, name, typeId: 'OS', operatingSystems: osList.osList.flatMap(systemOf) }
  if (process !== undefined) {
    const { signerFingerprints, ...asked } = processOf(process)
    const [signerFingerprint = '', ...others] = signerFingerprints
    if (others.length === 0) return { id, name, typeId: 'PROCESS', process: { ...asked, signerFingerprint } }
  }
  const asked = processMulti ?? { semantic: 'AllOf', processes: process === undefined ? [] : [process] }
  const semantic = asked.semantic === 'AllOf' ? 'AllOf' : 'AnyOf'
  return { id, name, typeId: 'PROCESS_MULTI', semantic, processes: asked.processes.map(processOf) }
}

function systemOf({
  osType,
  osVersions: versions,
}: {
  readonly osType: string
  readonly osVersions: readonly string[]
}) {
  const type = canonicalOsType(osType)
  return type === undefined ? [] : [{ type, versions: versions.includes(ANY_VERSION) ? [] : versions }]
}

function processOf({ osType: system, path, hashes, fingerprints }: ProcessFields) {
  // Deployed controllers send an empty text where no signer is required. A value may come in several spellings.
  const asked = (values: readonly string[]) => {
    const known = values.filter((value) => value !== '').map((value) => normaliseHex(value) ?? value)
    return [...new Set(known)]
  }
  // The operating system of a process is not compared: an endpoint reports only its own paths.
  return {
    path,
    hashes: asked(hashes),
    signerFingerprints: asked(fingerprints),
    osType: canonicalOsType(system) ?? 'Linux',
  }
}

/** Writes the data model as routers read it. */
export const modelCodec: ModelCodec = {
  state: (events) => StateEvents.encode({ events: events.map(wireEvent) }),
  changes: (events) => ChangeSetEvents.encode({ changes: events.map(wireEvent) }),
}

const NO_EVENT = Event.blank()

function wireEvent(event: ModelEvent): WireEvent {
  switch (event.action) {
    case 'create':
    case 'update':
      return { ...NO_EVENT, action: event.action, ...entityFields(event.entity) }
    case 'delete':
      return { ...NO_EVENT, action: 'delete', ...deletedFields(event.type, event.id) }
    case 'relate':
    case 'separate': {
      const { policyId, entityIds: relatedEntityIds, side: relatedEntityType } = event
      const add = event.action === 'relate'
      return { ...NO_EVENT, servicePolicyChange: { policyId, relatedEntityIds, relatedEntityType, add } }
    }
  }
}

function entityFields(entity: ModelEntity): Partial<WireEvent> {
  switch (entity.type) {
    case 'identity': {
      const serviceConfigs = new Map([...entity.serviceConfigs].map(([id, configs]) => [id, { configs }]))
      return { identity: { ...entity, serviceConfigs, appDataJson: textBytes(entity.appDataJson) } }
    }
    case 'service':
      return { service: entity }
    case 'service-policy':
      return { servicePolicy: entity }
    case 'posture-check':
      return { postureCheck: postureCheckFields(entity.check) }
    case 'public-key':
      return { publicKey: entity }
    case 'revocation': {
      const { id, expiresAt, kind: type, issuedBefore } = entity
      return { revocation: { id, type, expiresAt: timestamp(expiresAt), issuedBefore: timestamp(issuedBefore) } }
    }
    case 'config-type':
      return { configType: entity }
    case 'config':
      return { config: entity }
    case 'router':
      return { router: entity }
  }
}

/** Routers read only the id of a deleted entity. */
function deletedFields(type: ModelEntity['type'], id: string): Partial<WireEvent> {
  switch (type) {
    case 'identity':
      return { identity: { ...BLANK.identity, id } }
    case 'service':
      return { service: { ...BLANK.service, id } }
    case 'service-policy':
      return { servicePolicy: { ...BLANK.servicePolicy, id } }
    case 'posture-check':
      return { postureCheck: { ...BLANK.postureCheck, id } }
    case 'public-key':
      return { publicKey: { ...BLANK.publicKey, kid: id } }
    case 'revocation':
      return { revocation: { ...BLANK.revocation, id } }
    case 'config-type':
      return { configType: { ...BLANK.configType, id } }
    case 'config':
      return { config: { ...BLANK.config, id } }
    case 'router':
      return { router: { ...BLANK.router, id } }
  }
}

/** An instant of epoch milliseconds. */
function timestamp(instant: number | undefined): { readonly seconds: number; readonly nanos: number } | undefined {
  if (instant === undefined) return undefined
  return { seconds: Math.floor(instant / 1000), nanos: (instant % 1000) * 1_000_000 }
}
