import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { PostureKnown, PostureReported } from '../../../../src/control-channel.ts'
import { readReports, writeReports } from '../../channel/posture-messages.ts'
import { CONTENT_TYPE, HEADER } from './content-types.ts'
import { type Body, type MessageRow, mapped, row, text, textBody } from './message-row.ts'

/** The reports that an endpoint made, in its own form. */
const REPORTS: Body<Pick<PostureReported, 'reports'>> = {
  // A message that repeats a field is one after the other.
  encode: ({ reports }) => Buffer.concat(reports.map(({ facts, at }) => writeReports(facts, at))),
  decode(bytes) {
    const now = runtime.now()
    return { reports: readReports(bytes).map(({ facts, at = now }) => ({ facts, at })) }
  },
}

/** A router hands on the posture of an endpoint. */
export const postureReported = row(CONTENT_TYPE.postureReported, REPORTS, {
  apiSessionToken: text(HEADER.circuitApiSessionToken),
})

/** A controller sends the known posture of an endpoint. The router trusts it as it trusts the model. */
export const postureKnown: MessageRow<Omit<PostureKnown, 'type'>> = mapped(
  row(CONTENT_TYPE.postureKnown, textBody('json')),
  (known) => ({ json: JSON.stringify(known) }),
  ({ json }) => JSON.parse(json),
)
