import { canonicalOsType } from '../domain/posture/index.ts'

type Body = Readonly<Record<string, unknown>>

/**
 * Puts the other documented spellings of a posture check right: `attributes` for `roleAttributes`, schema names such as
 * `postureCheckDomainCreate` for `DOMAIN`, `os` for `osType`, operating-system names in any case and with spaces
 * (interface: Posture check; rulings R15, R16, R18). Deployed command lines write `Type` and `Versions` of an operating
 * system with capitals.
 */
export function postureCheckSpellings(body: Body): Body {
  const { attributes, ...rest } = body
  return {
    ...rest,
    ...(attributes !== undefined && (rest.roleAttributes ?? null) === null ? { roleAttributes: attributes } : {}),
    ...(typeof body.typeId === 'string' ? { typeId: typeIdOf(body.typeId) } : {}),
    ...(Array.isArray(body.operatingSystems)
      ? { operatingSystems: body.operatingSystems.map((value) => withOsName('type')(withSmallInitials(value))) }
      : {}),
    ...(isObject(body.process) ? { process: withOsName('osType')(body.process) } : {}),
    ...(Array.isArray(body.processes) ? { processes: body.processes.map(withOsName('osType')) } : {}),
  }
}

/** `postureCheckDomainCreate` and its siblings name the type between a fixed head and tail. */
function typeIdOf(typeId: string): string {
  const match =
    /^postureCheck(OperatingSystem|ProcessMulti|Process|Domain|MacAddress|Mfa)(?:Create|Update|Patch)$/.exec(typeId)
  switch (match?.[1]) {
    case 'OperatingSystem':
      return 'OS'
    case 'ProcessMulti':
      return 'PROCESS_MULTI'
    case 'Process':
      return 'PROCESS'
    case 'Domain':
      return 'DOMAIN'
    case 'MacAddress':
      return 'MAC'
    case 'Mfa':
      return 'MFA'
    default:
      return typeId
  }
}

function withSmallInitials(value: unknown): unknown {
  if (!isObject(value)) return value
  const { Type, Versions, ...rest } = value
  return { ...(Type !== undefined && { type: Type }), ...(Versions !== undefined && { versions: Versions }), ...rest }
}

function withOsName(member: 'type' | 'osType'): (value: unknown) => unknown {
  return (value) => {
    if (!isObject(value)) return value
    const { os, ...rest } = value
    const given = rest[member] ?? os
    if (typeof given !== 'string') return value
    return { ...rest, [member]: canonicalOsType(given) ?? given }
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
