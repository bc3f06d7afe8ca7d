import type { TestControllerOptions } from 'portcullis/testing'

/** A service `echo` that `laptop` may dial and `server` may host. */
export const ECHO_MODEL = {
  services: [{ name: 'echo', encryptionRequired: false }],
  identities: [
    { name: 'laptop', type: 'Device' },
    { name: 'server', type: 'Service' },
  ],
  servicePolicies: [
    { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['@laptop'], serviceRoles: ['@echo'] },
    { name: 'bind', type: 'Bind', semantic: 'AnyOf', identityRoles: ['@server'], serviceRoles: ['@echo'] },
  ],
} as const satisfies TestControllerOptions['model']
