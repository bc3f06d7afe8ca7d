/** Operating systems that a posture check can name, in their stored spelling. */
export const OS_TYPES = ['Windows', 'WindowsServer', 'Android', 'iOS', 'Linux', 'macOS'] as const

/** An operating system as a posture check stores it. */
export type OsType = (typeof OS_TYPES)[number]

const BY_FOLDED_NAME: ReadonlyMap<string, OsType> = new Map(OS_TYPES.map((type) => [foldName(type), type]))

/**
 * The stored spelling of an operating system named in any case and with any spaces (`WINDOWS`, `Windows Server`), or
 * `undefined` when no posture check can name it.
 */
export function canonicalOsType(name: string): OsType | undefined {
  return BY_FOLDED_NAME.get(foldName(name))
}

/**
 * The operating system that an endpoint means by the name it reports, or `undefined` when it is none of ours.
 *
 * Apple endpoints report the kernel's name, `Darwin`, which counts as macOS.
 */
export function reportedOsType(name: string): OsType | undefined {
  return foldName(name) === 'darwin' ? 'macOS' : canonicalOsType(name)
}

function foldName(name: string): string {
  return name.replaceAll(/\s/g, '').toLowerCase()
}

/** A value whose operating system, under `member` or as `os`, has its stored spelling where it can have one. */
export function withOsType(member: 'type' | 'osType', value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { os, ...rest }: { readonly os?: unknown; readonly type?: unknown; readonly osType?: unknown } = value
  const given = rest[member] ?? os
  if (typeof given !== 'string') return value
  return { ...rest, [member]: canonicalOsType(given) ?? given }
}
