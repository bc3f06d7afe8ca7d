import { z } from 'zod'
import { Text, TextSet } from '../../resources/fields.ts'
import { defineOperation } from '../operation.ts'

const id = z.string().max(256)

/** What an endpoint reports; MFA is proved by a code instead, and PROCESS answers both kinds of process check. */
export const PostureResponse = z.discriminatedUnion('typeId', [
  z.object({ id, typeId: z.literal('OS'), type: Text, version: Text, build: Text.optional() }),
  z.object({ id, typeId: z.literal('DOMAIN'), domain: Text }),
  z.object({ id, typeId: z.literal('MAC'), macAddresses: TextSet }),
  z.object({
    id,
    typeId: z.literal('PROCESS'),
    path: Text.optional(),
    isRunning: z.boolean().optional(),
    hash: Text.optional(),
    signerFingerprints: TextSet.nullish().transform((fingerprints) => fingerprints ?? undefined),
  }),
  z.object({
    id,
    typeId: z.literal('ENDPOINT_STATE'),
    unlocked: z.boolean().optional(),
    woken: z.boolean().optional(),
  }),
])

const Affected = z.object({
  services: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      postureQueryType: z.string(),
      timeout: z.int(),
      timeoutRemaining: z.int(),
    }),
  ),
})

/** Reports of an endpoint about its state: one at a time, or many at once. */
export const postureResponseOperations = [
  defineOperation(
    {
      route: 'POST /posture-response',
      summary: 'Takes one posture response',
      access: 'authenticated',
      body: PostureResponse,
      spellings: postureResponseSpellings,
      data: Affected,
      status: 201,
    },
    async ({ engine, call, body }) => ({ data: { services: await engine.posture.submit(call, [body]) } }),
  ),
  defineOperation(
    {
      route: 'POST /posture-response-bulk',
      summary: 'Takes posture responses, in order',
      access: 'authenticated',
      body: z.array(PostureResponse).max(1000),
      spellings: postureResponseSpellings,
      data: Affected,
    },
    async ({ engine, call, body }) => ({ data: { services: await engine.posture.submit(call, body) } }),
  ),
] as const

/** `postureResponseDomainCreate` and its siblings are other documented names of the types (ruling R18). */
function postureResponseSpellings(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const typeId = TYPE_SPELLINGS.get(String(body.typeId))
  return typeId === undefined ? body : { ...body, typeId }
}

const TYPE_SPELLINGS = new Map([
  ['postureResponseOperatingSystemCreate', 'OS'],
  ['postureResponseDomainCreate', 'DOMAIN'],
  ['postureResponseMacAddressCreate', 'MAC'],
  ['postureResponseProcessCreate', 'PROCESS'],
  ['postureResponseEndpointStateCreate', 'ENDPOINT_STATE'],
])
