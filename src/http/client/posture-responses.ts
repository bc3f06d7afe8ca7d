import { z } from 'zod'
import { Text, TextSet } from '../../resources/fields.ts'
import { described } from '../../resources/words.ts'
import { defineOperation } from '../operations/operation.ts'

const id = z.string().max(256)

const idWords = 'The id of the posture check that asked; kept with the report and not looked up.'
const typeIdWords = 'What is reported; `postureResponse…Create` is taken as well, as `postureResponseDomainCreate`.'
const words = { id: idWords, typeId: typeIdWords } as const

/** What an endpoint reports; MFA is proved by a code instead, and PROCESS answers both kinds of process check. */
export const PostureResponse = z.discriminatedUnion('typeId', [
  described(
    z.object({ id, typeId: z.literal('OS'), type: Text, version: Text, build: Text.optional() }),
    {
      ...words,
      type: 'The operating system.',
      version: 'Its version; parts that are left out count as 0.',
      build: 'Its build.',
    },
    'A report of the operating system.',
  ),
  described(
    z.object({ id, typeId: z.literal('DOMAIN'), domain: Text }),
    { ...words, domain: 'The Windows domain of which the endpoint is a member.' },
    'A report of the Windows domain.',
  ),
  described(
    z.object({ id, typeId: z.literal('MAC'), macAddresses: TextSet }),
    { ...words, macAddresses: 'The addresses of the endpoint; case and separators do not matter.' },
    'A report of the MAC addresses.',
  ),
  described(
    z.object({
      id,
      typeId: z.literal('PROCESS'),
      path: Text.optional(),
      isRunning: z.boolean().optional(),
      hash: Text.optional(),
      signerFingerprints: TextSet.nullish().transform((fingerprints) => fingerprints ?? undefined),
    }),
    {
      ...words,
      path: 'The path of the binary.',
      isRunning: 'Whether it runs; false by default.',
      hash: 'The SHA-256 or SHA-512 hash of the binary, hex.',
      signerFingerprints: 'SHA-1 fingerprints, hex, of the certificates that signed the binary.',
    },
    'A report of one process, for both kinds of process check.',
  ),
  described(
    z.object({
      id,
      typeId: z.literal('ENDPOINT_STATE'),
      unlocked: z.boolean().optional(),
      woken: z.boolean().optional(),
    }),
    {
      ...words,
      unlocked: 'True when the endpoint was unlocked just now; false by default.',
      woken: 'True when the endpoint woke just now; false by default.',
    },
    'A report that the endpoint was unlocked or woken.',
  ),
])

const Affected = described(
  z.object({
    services: z.array(
      described(
        z.object({
          id: z.string(),
          name: z.string(),
          postureQueryType: z.string(),
          timeout: z.int(),
          timeoutRemaining: z.int(),
        }),
        {
          id: 'The id of the service.',
          name: 'The name of the service.',
          postureQueryType: 'The type of the posture check that will fail.',
          timeout: 'The seconds for which a code is good by that check; -1 for ever.',
          timeoutRemaining: 'The seconds until the check fails without a new code.',
        },
      ),
    ),
  }),
  { services: 'The services that the caller will lose unless it proves its second factor again.' },
)

/** Reports of an endpoint about its state: one at a time, or many at once. */
export const postureResponseOperations = [
  defineOperation(
    {
      route: 'POST /posture-response',
      summary: 'Takes one posture response',
      description:
        'Sessions that it takes the ground from end before the answer. The answer lists services only after an unlock or wake.',
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
      description:
        'Sessions that they take the ground from end before the answer. The answer lists services only after an unlock or wake.',
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
