import { z } from 'zod'
import { isConnected, member } from './computed-symbol.ts'
import { defineResource } from './define-resource.ts'
import { Cost, Name, TextSet } from './fields.ts'
import { NetworkInterface } from './network-interface.ts'

/** A router that forwards between others and that no identity connects to (interface: Router). */
export const transitRouters = defineResource(
  {
    name: 'transit-routers',
    singular: 'router',
    storeName: 'routers',
    permission: 'router',
    writable: {
      name: Name,
      configs: TextSet.default([]),
      cost: Cost.default(0),
      ctrlChanListeners: z.record(z.string(), z.array(z.string())).default({}),
      disabled: z.boolean().default(false),
      noTraversal: z.boolean().default(false),
    },
    system: {
      certPem: z.string().nullable(),
      fingerprint: z.string().nullable(),
      isVerified: z.boolean(),
      unverifiedCertPem: z.string().nullable(),
      unverifiedFingerprint: z.string().nullable(),
    },
    derived: {
      enrollmentCreatedAt: z.iso.datetime().optional(),
      enrollmentExpiresAt: z.iso.datetime().optional(),
      enrollmentJwt: z.string().optional(),
      enrollmentToken: z.string().optional(),
      interfaces: z.array(NetworkInterface).nullable(),
      isOnline: z.boolean(),
    },
    hidden: ['certPem'],
    required: ['name'],
    unique: ['name', 'fingerprint'],
    references: { configs: { to: 'configs', onDelete: 'clear' } },
    symbols: { unverifiedCertPem: null, unverifiedFingerprint: null },
    computed: {
      connected: isConnected,
      isOnline: isConnected,
      ctrlChanListeners: member('json', 'ctrlChanListeners'),
    },
    operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
  },
  {
    configs: 'Ids of configs whose type is for routers, at most one of each type. Empty by default.',
    cost: 'The cost of a path through the router, 0 to 65535; 0 by default. Less is preferred.',
    ctrlChanListeners:
      "Further addresses of the router's control channel, each with the names of its groups. Empty by default.",
    disabled: 'True for a router that may not connect; false by default.',
    noTraversal: 'True for a router that no traffic passes on its way to another one; false by default.',
    fingerprint:
      "SHA-1 of the router's certificate in DER form, 40 lower-case hex digits; null or absent until it enrolled.",
    isVerified: 'True once the router enrolled.',
    unverifiedCertPem:
      'A certificate that was issued to the router and that it did not confirm yet, PEM; null when there is none.',
    unverifiedFingerprint:
      'SHA-1 of `unverifiedCertPem` in DER form, 40 lower-case hex digits; null when there is none.',
    enrollmentCreatedAt: 'When the outstanding enrollment was created, RFC 3339; absent once the router is verified.',
    enrollmentExpiresAt: 'When the outstanding enrollment expires, RFC 3339; absent once the router is verified.',
    enrollmentJwt: 'The signed token with which the router enrolls, a secret; absent once it is verified.',
    enrollmentToken: 'The one-time token inside of `enrollmentJwt`, a secret; absent once the router is verified.',
    interfaces: 'The network interfaces that the router reported; null when it reported none.',
    isOnline: 'True while the router is connected to the controller.',
  },
)
