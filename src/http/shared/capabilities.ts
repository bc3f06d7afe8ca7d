import { z } from 'zod'
import { ROUTER_CAPABILITIES } from '../../resources/routers/router-fields.ts'
import { defineOperation } from '../operations/define-operation.ts'

const CAPABILITIES = ['OIDC_AUTH', 'HA_CONTROLLER', 'OIDC_AUTH_WITH_CSR']

/** The words in which controllers and routers tell what they can do; what this one can is part of its version. */
export const capabilityOperations = [
  defineOperation(
    {
      route: 'GET /enumerated-capabilities',
      summary: 'Lists the capabilities that a controller may have',
      description: 'What this controller can do is part of `/version`.',
      access: 'public',
      data: z.array(z.string()),
    },
    async () => ({ data: CAPABILITIES }),
  ),
  defineOperation(
    {
      route: 'GET /enumerated-router-capabilities',
      summary: 'Lists the capabilities that a router may have',
      access: 'partial',
      data: z.array(z.string()),
    },
    async () => ({ data: [...ROUTER_CAPABILITIES] }),
  ),
] as const
