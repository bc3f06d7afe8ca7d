import { randomBytes } from 'node:crypto'

/** What made a request fail, in the field form of an error envelope or as a nested message. */
export interface EnvelopeCause {
  readonly field?: string
  readonly reason?: string
  readonly value?: string
  readonly code?: string
  readonly message?: string
}

/**
 * The enveloped error that the adapter answers when a request never reached the controller, in the shape that clients
 * know from the controller itself: code, message, cause, request id and API versions.
 */
export function errorResponse(status: number, code: string, message: string, cause?: EnvelopeCause): Response {
  const error = { ...(cause === undefined ? {} : { cause }), code, message, requestId: requestId() }
  const meta = { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' }
  return jsonResponse(status, JSON.stringify({ error, meta }))
}

/** A response of JSON text. */
export function jsonResponse(status: number, text: string): Response {
  return new Response(text, { status, headers: { 'content-type': 'application/json' } })
}

/** Eleven unguessable characters, so that a caller can name the failed request to the operator. */
function requestId(): string {
  return randomBytes(8).toString('base64url')
}
