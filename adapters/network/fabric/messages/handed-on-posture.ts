import type { FromRouter, PostureKnown } from '../../../../src/control-channel.ts'
import { emptyPostureData } from '../../../../src/policy.ts'
import type { Frame } from '../../channel/frame.ts'
import { readText, textHeader } from '../../channel/header-values.ts'
import { readReports, writeReports } from '../../channel/posture-messages.ts'
import { CONTENT_TYPE, HEADER } from './content-types.ts'
import { type WireMessage, wire } from './write-message.ts'

type Message<Type extends FromRouter['type']> = Extract<FromRouter, { type: Type }>

/** Writes what a router hands on of the posture of an endpoint: the reports are those that endpoints make. */
export function writePosture(message: Message<'posture-reported'> | Message<'posture-unwanted'>): WireMessage {
  if (message.type === 'posture-unwanted') {
    return wire(CONTENT_TYPE.postureUnwanted, new TextEncoder().encode(message.apiSessionId))
  }
  // A message that repeats a field is one after the other.
  const body = Buffer.concat(message.reports.map(({ facts, at }) => writeReports(facts, at)))
  return wire(CONTENT_TYPE.postureReported, body, [
    [HEADER.circuitApiSessionToken, textHeader(message.apiSessionToken)],
  ])
}

/** Reads the same at the controller. */
export function readPostureReported({ headers, body }: Frame): FromRouter {
  const now = Date.now()
  return {
    type: 'posture-reported',
    apiSessionToken: readText(headers, HEADER.circuitApiSessionToken) ?? '',
    reports: readReports(Buffer.concat(body)).map(({ facts, at = now }) => ({ facts, at })),
  }
}

export function readPostureUnwanted({ body }: Frame): FromRouter {
  return { type: 'posture-unwanted', apiSessionId: Buffer.concat(body).toString() }
}

/** Reads what a controller knows of an endpoint. Its word is believed, as the model is; what it leaves out is not known. */
export function readPostureKnown(text: string): PostureKnown {
  const message: PostureKnown = JSON.parse(text)
  return { ...message, posture: { ...emptyPostureData(), ...message.posture } }
}
