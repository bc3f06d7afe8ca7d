import type { FromOperator, ToOperator, Validated, ValidationRequest } from '../../../../src/control-channel.ts'
import type { Message } from '../../channel/conversation.ts'
import { bodyOf } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { boolHeader, textBytes } from '../../channel/header-values.ts'
import { HEADER } from '../messages/content-types.ts'
import { ChannelTrace, TraceChannels } from '../messages/fabric-definitions.ts'
import * as wire from './definitions.ts'

const { OPERATOR_CONTENT, VALIDATION_CONTENT } = wire
/** Requests of operators that are refused as unsupported, so that no program waits in vain. */
const UNSUPPORTED: Readonly<Record<number, string>> = {
  [OPERATOR_CONTENT.toggleCircuitTraces]: 'trace the messages of circuits',
}

/** The message of a frame; undefined for a kind that the controller does not take. Throws for a malformed message. */
export function readFromOperator({ contentType, body }: Frame): FromOperator | undefined {
  const bytes = bodyOf({ body })
  const what = UNSUPPORTED[contentType]
  if (what !== undefined) return { type: 'unsupported', what }
  switch (contentType) {
    case OPERATOR_CONTENT.inspect:
      return { type: 'inspect', ...wire.Inspect.decode(bytes) }
    case OPERATOR_CONTENT.streamEvents:
      return { type: 'stream-events', body: new TextDecoder().decode(bytes) }
    case OPERATOR_CONTENT.togglePipeTraces:
      return { type: 'trace-channels', ...TraceChannels.decode(bytes) }
    case OPERATOR_CONTENT.streamTraces: {
      const { isFiltered, filter, contentTypes } = wire.StreamTraces.decode(bytes)
      return {
        type: 'stream-traces',
        only: isFiltered ? { isIncluding: filter === 'include', contentTypes } : undefined,
      }
    }
    default: {
      const request = validationRequest(contentType, bytes)
      return request && { type: 'validate', request }
    }
  }
}

function validationRequest(contentType: number, bytes: Uint8Array): ValidationRequest | undefined {
  switch (contentType) {
    case VALIDATION_CONTENT.terminators.request: {
      const request = wire.ValidateTerminators.decode(bytes)
      const { terminatorsFilter: filter, fixInvalid: fix, identitiesFilter: hosts } = request
      const { expectedPerHost: perHost, expectedPerSvcAndHost: perHostAndService } = request
      return { what: 'terminators', filter, fix, expected: { hosts, perHost, perHostAndService } }
    }
    case VALIDATION_CONTENT['data-model'].request: {
      const { routerFilter: filter, validateCtrl: withController } = wire.ValidateModel.decode(bytes)
      return { what: 'data-model', filter, withController }
    }
    case VALIDATION_CONTENT['controller-dialers'].request:
      return { what: 'controller-dialers' }
  }
  const ofRouters = ['circuits', 'links', 'sdk-terminators', 'ert-terminators', 'identity-connections'] as const
  const what = ofRouters.find((name) => VALIDATION_CONTENT[name].request === contentType)
  return what && { what, filter: wire.ValidateRouters.decode(bytes).filter, withController: false }
}

/** Writes a message for a program of an operator. */
export function writeToOperator(message: ToOperator): Message {
  switch (message.type) {
    case 'result':
      return {
        contentType: OPERATOR_CONTENT.result,
        headers: new Map([[HEADER.success, boolHeader(message.success)]]),
        body: [textBytes(message.message)],
      }
    case 'inspected': {
      const { errors, values } = message
      return written(
        OPERATOR_CONTENT.inspected,
        wire.Inspected.encode({ success: errors.length === 0, errors, values }),
      )
    }
    case 'event':
      return {
        contentType: OPERATOR_CONTENT.event,
        headers: new Map([[wire.EVENT_KIND, textBytes(message.kind)]]),
        body: [textBytes(message.text)],
      }
    case 'channel-trace':
      return written(OPERATOR_CONTENT.trace, ChannelTrace.encode(message))
    case 'validation-begun': {
      const { what, count, problem } = message
      const begun = { success: problem === undefined, message: problem ?? '', count }
      return written(VALIDATION_CONTENT[what].begun, wire.ValidationBegun.encode(begun))
    }
    case 'validated': {
      const { result } = message
      if (result.what === 'host-count') return written(OPERATOR_CONTENT.hostCount, wire.HostCount.encode(result))
      return written(VALIDATION_CONTENT[result.what].result, validated(result))
    }
  }
}

function written(contentType: number, body: Uint8Array): Message {
  return { contentType, headers: new Map(), body: [body] }
}

function validated(result: Exclude<Validated, { readonly what: 'host-count' }>): Uint8Array {
  switch (result.what) {
    case 'terminators':
      return wire.TerminatorDetail.encode(result)
    case 'links':
      return wire.LinkDetails.encode({ ...aboutRouter(result), linkDetails: result.links })
    case 'sdk-terminators':
    case 'ert-terminators':
      return wire.HostedTerminatorDetails.encode({ ...aboutRouter(result), details: result.terminators })
    case 'circuits':
      return wire.CircuitDetails.encode({ ...aboutRouter(result), details: result.circuits })
    case 'controller-dialers':
      return wire.DialerDetails.encode({ ...result, validateSuccess: result.success })
    case 'identity-connections':
    case 'data-model':
      return wire.ComponentDetails.encode({ ...result, validateSuccess: result.success })
  }
}

function aboutRouter({ routerId, routerName, problem }: Extract<Validated, { readonly problem: string | undefined }>) {
  return { routerId, routerName, validateSuccess: problem === undefined, message: problem ?? '' }
}
