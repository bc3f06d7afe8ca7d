import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Cost, Name, NetworkInterface, TextSet } from '../../kernel/declaration/fields.ts'
import { IS_CONNECTED, member, type Resource, type ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { ControlListeners, ROUTER_WORDS, routerSpellings } from './router-fields.resource.ts'

const DEFINITION = {
  name: 'transit-routers',
  singular: 'router',
  storeName: 'routers',
  permission: 'router',
  writable: {
    name: Name,
    configs: TextSet.default([]),
    cost: Cost.default(0),
    ctrlChanListeners: ControlListeners,
    disabled: z.boolean().default(false),
    noTraversal: z.boolean().default(false),
  },
  system: {
    certPem: z.string().nullable(),
    fingerprint: z.string().nullable(),
    isVerified: z.boolean(),
    unverifiedCertPem: z.string().nullable(),
    unverifiedFingerprint: z.string().nullable(),
    authorityKeyId: z.string().nullable(),
  },
  derived: {
    enrollmentCreatedAt: z.iso.datetime().optional(),
    enrollmentExpiresAt: z.iso.datetime().optional(),
    enrollmentJwt: z.string().optional(),
    enrollmentToken: z.string().optional(),
    interfaces: z.array(NetworkInterface).nullable(),
    isOnline: z.boolean(),
  },
  hidden: ['certPem', 'authorityKeyId'],
  plain: ['certPem', 'authorityKeyId'],
  required: ['name'],
  unique: ['name', 'fingerprint'],
  references: { configs: { to: 'configs', onDelete: 'clear' } },
  symbols: { authorityKeyId: null, unverifiedCertPem: null, unverifiedFingerprint: null },
  computed: {
    connected: IS_CONNECTED,
    isOnline: IS_CONNECTED,
    ctrlChanListeners: member('json', 'ctrlChanListeners'),
  },
  quirks: {
    nullWhenEmpty: ['configs'],
    absentWhenEmpty: ['ctrlChanListeners'],
    spellings: routerSpellings,
  },
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** A router that only forwards between other routers: no identity connects to it. */
export interface TransitRouters extends Resource<typeof DEFINITION> {}
export const transitRouters: TransitRouters = defineResource(DEFINITION, {
  ...ROUTER_WORDS,
  fingerprint:
    "SHA-1 of the router's certificate in DER form, 40 lower-case hex digits; null or absent until it enrolled.",
  isOnline: 'True while the router is connected to the controller.',
})
