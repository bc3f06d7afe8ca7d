import { z } from 'zod'
import type { AuditEntry, AuditPage } from '../../facts/audit/audit-questions.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { EVENT_STREAM, JSON_LINES, streamAnswer, streamAskedFor } from '../../http/operations/stream-answer.ts'
import { described } from '../../kernel/declaration/words.ts'

const Entity = described(z.object({ kind: z.string(), id: z.string(), name: z.string().nullable() }), {
  kind: 'Its resource, for example `service-policies`.',
  name: 'Its name at that time; null where it had none, or the caller may not read it.',
})
const Actor = described(z.object({ id: z.string(), name: z.string().nullable() }), {
  name: 'Its name; null where the caller may not read it.',
})
const Author = described(
  z.object({
    by: z.enum(['caller', 'anonymous', 'operator', 'system']),
    name: z.string().optional(),
    apiSessionId: z.string().optional(),
    method: z.string().optional(),
    authenticatorId: z.string().optional(),
    fingerprint: z.string().optional(),
    trustAnchorId: z.string().optional(),
  }),
  {
    by: '`caller`: an identity; `anonymous`: somebody whose credential was just judged; `operator`: the owner of the store; `system`: the controller or its host.',
    name: 'The name at that time.',
    apiSessionId: 'The API session by which the identity called.',
    method: 'The method of its login: `password`, `cert` or `ext-jwt`.',
    authenticatorId: 'The authenticator of the login.',
    fingerprint: 'SHA-1 of the certificate of the login, in hexadecimal.',
    trustAnchorId: 'The certificate authority or external signer that vouched.',
  },
)
const Change = described(z.object({ before: z.unknown().optional(), after: z.unknown().optional() }), {
  before: 'The value before; absent where it was the default.',
  after: 'The value after; absent where it is the default.',
})

/** The data of GET /audit. */
const AuditData: z.ZodType<AuditPage, AuditPage> = described(
  z.object({
    entries: z.array(
      described(
        z.object({
          id: z.string(),
          at: z.iso.datetime(),
          type: z.string(),
          entity: Entity.nullable(),
          actor: Actor.nullable(),
          author: Author.nullable(),
          remoteAddress: z.string().nullable(),
          requestId: z.string().nullable(),
          reason: z.string().nullable(),
          changes: z.record(z.string(), Change),
          facts: z.record(z.string(), z.unknown()),
        }),
        {
          id: 'The id of the record. Ids sort in the order of commits.',
          at: 'When, RFC 3339.',
          type: 'The kind of event, for example `entity.updated`.',
          entity: 'The entity that it is about; null where it is about none.',
          actor: 'The identity that did it; null for the controller and its operator.',
          author: 'By which proof the actor was let in; null for readers who are no administrators.',
          remoteAddress: 'From which address; null where that is unknown, and for readers who are no administrators.',
          requestId:
            'The id of the request in the log; null where there was none, and for readers who are no administrators.',
          reason: 'Why; null without a reason, and for readers who are no administrators.',
          changes: 'The fields that changed, each before and after; of a secret a digest.',
          facts: 'Further facts about it; empty for readers who are no administrators.',
        },
      ),
    ),
    next: z.string().nullable(),
  }),
  {
    entries: 'The records, the latest first, or with `after` the earliest first.',
    next: 'The `before`, or the `after`, of the next page; null when there is none. A page may be empty and have a next one.',
  },
)

/** The operation that reads the audit trail. */
export const auditOperation = defineOperation(
  {
    route: 'GET /audit',
    summary: 'Tells what was done, by whom and from where',
    description:
      'A record is told to who may read the entities that it is about, and those about none to administrators. ' +
      'Filters may name `id`, `at`, `type`, `kind`, `entityId` and `actorId`. A caller that accepts `application/jsonl` is answered ' +
      'every record from `after` or the first one on, one in a line, the earliest first. A caller that accepts `text/event-stream` is ' +
      'told each record as it is written, from now on or after `Last-Event-ID`, within about a second.',
    access: 'delegate',
    isLong: true,
    headers: ['Last-Event-ID'],
    query: described(
      z.object({
        filter: z.string().max(8192).optional(),
        entity: z.string().max(256).optional(),
        actor: z.string().max(256).optional(),
        after: z.string().max(64).optional(),
        before: z.string().max(64).optional(),
        limit: z.coerce.number().int().min(1).max(500).optional(),
      }),
      {
        filter: 'A condition in the filter language.',
        entity: 'The id of the entity that records are about.',
        actor: 'The id of the identity that acted.',
        after: 'The id of a record: later ones are wanted, the earliest first.',
        before: 'The id of a record: earlier ones are wanted, the latest first.',
        limit: 'How many records to answer at most, up to 500; 100 by default. Of a stream it says nothing.',
      },
    ),
    data: AuditData,
    orProduces: [JSON_LINES, EVENT_STREAM],
    errors: ['INVALID_FILTER', 'RATE_LIMITED'],
  },
  async ({ engine, call, query, headers }): Promise<{ readonly data: AuditPage }> => {
    const form = streamAskedFor(headers.get('accept'), [JSON_LINES, EVENT_STREAM])
    if (form === undefined) return { data: await engine.audit.read(call, query) }
    const after = (form === EVENT_STREAM && headers.get('last-event-id')?.slice(0, 64)) || query.after
    const stream = await engine.audit.stream(call, { ...query, after }, form === EVENT_STREAM)
    engine.timelines.admit(stream)
    return streamAnswer<AuditPage>(form, {
      next: async () => {
        const step = await stream.next()
        if (step.kind === 'over') return undefined
        if (step.kind === 'quiet') return ': alive\n\n'
        return step.entries
          .map((entry) => (form === EVENT_STREAM ? eventOf(entry) : `${JSON.stringify(entry)}\n`))
          .join('')
      },
      close: () => engine.timelines.close(stream),
    })
  },
)

function eventOf(entry: AuditEntry): string {
  return `id: ${entry.id}\nevent: ${entry.type}\ndata: ${JSON.stringify(entry)}\n\n`
}

const HEAD = {
  number: z.int(),
  hash: z.string(),
  records: z.int(),
  removed: z.int(),
  token: z.string(),
}

/** The operation that signs the head of the chain. */
export const auditHeadOperation = defineOperation(
  {
    route: 'GET /audit/head',
    summary: 'Tells how far the audit trail goes, signed',
    description:
      'Kept elsewhere, it shows later whether the trail was cut or written anew: `portcullis audit verify --head`.',
    access: { entity: 'ops', action: 'read' },
    isLong: true,
    data: described(z.object(HEAD), {
      number: 'The number of the last seal; 0 before the first.',
      hash: 'SHA-256 of the last seal, and by it of every one before.',
      records: 'How many records are kept.',
      removed: 'How many records were removed by age or for room.',
      token: 'The same as a JSON Web Token, signed by the key of the server certificate.',
    }),
  },
  async ({ engine }) => ({ data: await engine.audit.signedHead() }),
)
