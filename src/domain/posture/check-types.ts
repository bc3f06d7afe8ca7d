import { compareStrings } from '../filter/compare.ts'

/** A type of posture check, with the operating systems that it applies to. */
export interface PostureCheckType {
  readonly id: string
  readonly name: string
  readonly operatingSystems: readonly { readonly type: string; readonly versions: readonly string[] }[]
}

const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  Android: ['10', '11', '9'],
  Linux: ['4.14', '4.19', '5.4', '5.9'],
  Windows: ['10', '2000', '7', '8', 'Vista'],
  iOS: ['11', '12'],
  macOS: ['10.15', '11.0'],
}

/** The types that deployed controllers list; MFA checks work without being listed. */
export const POSTURE_CHECK_TYPES: readonly PostureCheckType[] = [
  withVersions('OS', 'Operating System Check', ['Android', 'Linux', 'Windows', 'iOS', 'macOS']),
  withVersions('PROCESS', 'Process Check', ['Linux', 'Windows', 'macOS']),
  withVersions('DOMAIN', 'Windows Domain Check', ['Windows']),
  withVersions('MAC', 'MAC Address Check', ['Android', 'Linux', 'Windows', 'macOS']),
  {
    id: 'PROCESS_MULTI',
    name: 'Process Multi Check',
    operatingSystems: ['Linux', 'Windows', 'macOS'].map((type) => ({ type, versions: [] })),
  },
]

function withVersions(id: string, name: string, types: readonly string[]): PostureCheckType {
  const operatingSystems = [...types].sort(compareStrings).map((type) => ({ type, versions: VERSIONS[type] ?? [] }))
  return { id, name, operatingSystems }
}
