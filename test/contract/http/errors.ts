import { expect } from 'vitest'
import type { Answer, ForeignClient } from './foreign-client.ts'

const STATUS = {
  NOT_FOUND: 404,
  UNAUTHORIZED: 401,
  INVALID_AUTH: 401,
  METHOD_NOT_ALLOWED: 405,
  INVALID_POSTURE: 409,
  CAN_NOT_DELETE_REFERENCED_ENTITY: 409,
  UNSUPPORTED_MEDIA: 415,
} as const

/**
 * The envelope of an error: code, message, request id and API versions, and no `data` beside it. A `cause` of null is
 * none at all; one that is left out may be anything.
 */
export function expectError(answer: Answer, code: string, cause?: object | null, status = statusOf(code)): void {
  expect(answer.body, answer.text).toEqual({
    error: {
      ...causeOf(answer, cause),
      code,
      message: expect.any(String),
      requestId: expect.stringMatching(/^\S{8,}$/),
    },
    meta: { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' },
  })
  expect(answer.status).toBe(status)
}

/** `COULD_NOT_VALIDATE` that names the field; its value is always text. */
export function expectFieldError(answer: Answer, field: string, reason?: string): void {
  const says = reason === undefined ? expect.any(String) : expect.stringContaining(reason)
  expectError(answer, 'COULD_NOT_VALIDATE', { field, reason: says, value: expect.any(String) })
}

/** 404 that says which kind of entity has no such id. */
export function expectUnknown(answer: Answer, singular: string, id: string): void {
  expectError(answer, 'NOT_FOUND', { code: 'UNHANDLED', message: `${singular} with id ${id} not found` })
}

/** The answer of an update, a deletion or an action: an empty object. */
export function expectDone(answer: Answer): void {
  expect(answer.body, answer.text).toEqual({ data: {}, meta: { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' } })
  expect(answer.status).toBe(200)
}

/** Everything that the management API lists, as text. */
export async function dump(admin: ForeignClient): Promise<string> {
  const lists = []
  for (const path of COLLECTIONS) lists.push((await admin.get(`${path}?limit=500`)).text)
  return lists.join('')
}

/** Every collection that the management API can create entities in. */
export const COLLECTIONS = [
  '/identities',
  '/services',
  '/edge-routers',
  '/service-policies',
  '/edge-router-policies',
  '/service-edge-router-policies',
  '/posture-checks',
] as const

function causeOf(answer: Answer, cause: object | null | undefined): object {
  if (cause === null) return {}
  if (cause !== undefined) return { cause: expect.objectContaining(cause) }
  const found = answer.body?.error?.cause
  return found === undefined ? {} : { cause: found }
}

function statusOf(code: string): number {
  return code in STATUS ? STATUS[code as keyof typeof STATUS] : 400
}
