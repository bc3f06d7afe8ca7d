import { OPERATING } from '../../fabric/operators/operator-sessions.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'

/** Opens the channel of an operator's program. */
export const operatorChannel = defineOperation(
  {
    route: 'GET /ws-api',
    summary: 'Goes on as a channel for programs of operators',
    description:
      'A websocket (RFC 6455) whose binary messages are frames of the channel protocol: `ziti fabric validate` and `ziti fabric stream` speak it. It is closed when the API session or the right ends. Anything but a request for a websocket is answered by 426.',
    access: OPERATING,
    produces: 'application/octet-stream',
    errors: ['NOT_FOUND'],
  },
  // The connection goes on as a channel instead of getting an answer.
  async ({ engine, call }) => ({ raw: '', upgrade: engine.dataPlane.operatorSessions(call) }),
)
