import type { PostureCheck } from '../../../src/policy.ts'
import { BLANK } from './model-definitions.ts'

type Fields = typeof BLANK.postureCheck

/** Routers admit no version where a check names none, which here means any. */
const ANY_VERSION: readonly string[] = ['>=0.0.0']

/** A posture check as routers read it. */
export function postureCheckFields(check: PostureCheck): Fields {
  const { id, name, typeId } = check
  return { ...BLANK.postureCheck, id, name, typeId, ...asked(check) }
}

function asked(check: PostureCheck): Partial<Fields> {
  switch (check.typeId) {
    case 'MAC':
      return { mac: check }
    case 'MFA':
      return { mfa: check }
    case 'OS':
      return {
        osList: {
          osList: check.operatingSystems.map(({ type, versions }) => ({
            osType: type,
            osVersions: versions.length === 0 ? ANY_VERSION : versions,
          })),
        },
      }
    case 'PROCESS': {
      const { signerFingerprint, ...process } = check.process
      return { process: { ...process, fingerprints: signerFingerprint ? [signerFingerprint] : [] } }
    }
    case 'PROCESS_MULTI': {
      const processes = check.processes.map(({ signerFingerprints, ...process }) => ({
        ...process,
        fingerprints: signerFingerprints,
      }))
      return { processMulti: { semantic: check.semantic, processes } }
    }
    case 'DOMAIN':
      return { domains: check }
    // The protocol has a form for these types alone: of another one routers learn its name.
    default:
      return {}
  }
}
