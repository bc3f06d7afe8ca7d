import type { JsonObject } from './openapi-schema.ts'

function text(description: string): JsonObject {
  return { type: 'string', description }
}

function integer(description: string): JsonObject {
  return { type: 'integer', description }
}

/** The proofs of callers. */
export const SECURITY_SCHEMES: JsonObject = {
  ztSession: {
    type: 'apiKey',
    in: 'header',
    name: 'zt-session',
    description: 'The token of an API session, as POST /authenticate answers it. Good for every API of the controller.',
  },
  clientCertificate: {
    type: 'mutualTLS',
    description: 'Mutual TLS: the client certificate of the connection, with its intermediates. No header carries it.',
  },
  bearerToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A token of an external JWT signer. Where an auth policy requires one, it accompanies each request.',
  },
}

/** The credentials of operations that name no others: an API session, and a token beside it where the policy requires it. */
export const SECURITY: readonly JsonObject[] = [{ ztSession: [] }, { ztSession: [], bearerToken: [] }]

const VERSIONS = {
  apiEnrollmentVersion: text('The version of the enrollment protocol.'),
  apiVersion: text('The version of the API.'),
}

const PAGINATION = {
  type: 'object',
  description: 'Which part of the list the page is.',
  required: ['limit', 'offset', 'totalCount'],
  properties: {
    limit: integer('How many items a page has at most.'),
    offset: integer('How many items come before the page.'),
    totalCount: integer('How many items the list has on all pages.'),
  },
}

const CAUSE = {
  type: ['object', 'null'],
  description: 'The particular fault: a field with its reason and value, or another error with code and message.',
  properties: {
    code: text('The code of the error behind this one; `UNHANDLED` when it has none of its own.'),
    data: { description: 'More about it, by code.' },
    field: text('The field, parameter or header that was refused, by its path: `primary.updb.maxAttempts`.'),
    message: text('The error behind this one, for people.'),
    reason: text('Why the field was refused, for people.'),
    value: text('The value that was refused, as text; empty where it is a secret.'),
  },
}

/** Schemas that the answers of all operations share. */
export const SCHEMAS: JsonObject = {
  Meta: { type: 'object', description: 'Versions, beside the data of every answer.', properties: VERSIONS },
  ListMeta: {
    type: 'object',
    description: 'Versions, and what there is to know about the list.',
    required: ['filterableFields', 'pagination'],
    properties: {
      ...VERSIONS,
      filterableFields: {
        type: 'array',
        items: { type: 'string' },
        description: 'The fields that `filter` and `sort` may name.',
      },
      pagination: PAGINATION,
    },
  },
  Error: {
    type: 'object',
    description: 'A refusal.',
    required: ['error', 'meta'],
    properties: {
      error: {
        type: 'object',
        description: 'Why the request was refused.',
        required: ['code', 'message', 'requestId'],
        properties: {
          cause: CAUSE,
          code: text('The fault, for programs: one of a closed list of words.'),
          message: text('The same for people. Always the same text for the same code.'),
          requestId: text('Names the request, and finds it in the log of the controller.'),
        },
      },
      meta: { $ref: '#/components/schemas/Meta' },
    },
  },
  BareError: {
    type: 'object',
    description: 'The refusal of a body that is too large, which is answered without an envelope.',
    required: ['code', 'message'],
    properties: {
      cause: { type: ['object', 'null'], description: 'Always null.' },
      code: text('Always `REQUEST_ENTITY_TOO_LARGE`.'),
      message: text('The same for people.'),
    },
  },
}
