import { z } from 'zod'
import { OS_TYPES } from '../domain/posture/index.ts'
import { defineResource } from './define-resource.ts'
import { Name, RoleAttributes, TextSet } from './fields.ts'
import { postureCheckSpellings } from './posture-check-spellings.ts'

const OsType = z.enum(OS_TYPES)
const Path = z.string().min(1).max(4096)

/** A rule on the state of an endpoint; service policies select checks by their role attributes (interface: Posture check). */
export const postureChecks = defineResource({
  name: 'posture-checks',
  singular: 'posture check',
  storeName: 'postureChecks',
  permission: 'posture-check',
  writable: {
    name: Name,
    roleAttributes: RoleAttributes.default([]),
    domains: TextSet.min(1).nullable().default(null),
    macAddresses: TextSet.min(1).nullable().default(null),
    operatingSystems: z
      .array(z.object({ type: OsType, versions: z.array(z.string().max(1024)).max(1000).default([]) }))
      .min(1)
      .nullable()
      .default(null),
    process: z
      .object({
        osType: OsType,
        path: Path,
        hashes: TextSet.default([]),
        signerFingerprint: z.string().max(1024).default(''),
      })
      .nullable()
      .default(null),
    processes: z
      .array(
        z.object({ osType: OsType, path: Path, hashes: TextSet.default([]), signerFingerprints: TextSet.default([]) }),
      )
      .min(1)
      .nullable()
      .default(null),
    semantic: z.enum(['AllOf', 'OneOf', 'AnyOf']).nullable().default(null),
    ignoreLegacyEndpoints: z.boolean().default(false),
    promptOnUnlock: z.boolean().default(false),
    promptOnWake: z.boolean().default(false),
    timeoutSeconds: z.int().default(-1),
  },
  createOnly: {
    typeId: z.enum(['OS', 'PROCESS', 'PROCESS_MULTI', 'DOMAIN', 'MAC', 'MFA']),
  },
  derived: { version: z.int() },
  required: ['name', 'typeId'],
  requiredOnReplace: ['name'],
  requiredOnPatch: ['typeId'],
  unique: ['name'],
  symbols: {
    domains: null,
    macAddresses: null,
    semantic: null,
    ignoreLegacyEndpoints: null,
    timeoutSeconds: null,
  },
  spellings: postureCheckSpellings,
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
})
