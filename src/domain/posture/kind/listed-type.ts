import { compareStrings } from '../../filter/evaluation/compare.ts'
import type { ListedPostureCheckType } from './posture-check-kind.ts'

/** Versions of operating systems that a user interface may offer. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  Android: ['10', '11', '9'],
  Linux: ['4.14', '4.19', '5.4', '5.9'],
  Windows: ['10', '2000', '7', '8', 'Vista'],
  iOS: ['11', '12'],
  macOS: ['10.15', '11.0'],
}

/** A type as it is listed, for operating systems with the versions that one may choose. */
export function listedOn(name: string, types: readonly string[]): ListedPostureCheckType {
  const operatingSystems = [...types].sort(compareStrings).map((type) => ({ type, versions: VERSIONS[type] ?? [] }))
  return { name, operatingSystems }
}
