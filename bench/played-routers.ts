// Plays routers in a process of their own, so that the figures of a controller are its own: connects as many as it is told,
// asks for the data model and reads whatever comes as fast as it can, without keeping it.
// Arguments: the port to connect to, then the ids of the routers. Each message of the parent connects all of them; whenever
// every router received another model, or another change of it, the parent is told so.
import { connect, type Socket } from 'node:net'
import { routerSide } from 'portcullis/fabric'

const { CONTENT_TYPE, HEADER, encodeFrame } = routerSide
const HEAD_BYTES = 20
/** As often as routers do: who says nothing for 30 s is gone. */
const HEARTBEAT_MS = 10_000
const [port = '0', ...routerIds] = process.argv.slice(2)

/** How many frames of a kind arrived whole, over all routers. */
const arrived = { states: 0, changes: 0 }

function play(routerId: string): void {
  const socket = connect(Number(port), '127.0.0.1')
  socket.setNoDelay(true)
  // The parent knows by it whose certificate to present.
  socket.write(`${routerId}\n`)
  write(socket, CONTENT_TYPE.hello, -1, new TextEncoder().encode(routerId), [
    [HEADER.version, routerSide.textBytes('v2.0.0|rev|date|linux|amd64')],
    [HEADER.helloCapabilities, routerSide.encodeMask([1])],
    [HEADER.isGrouped, routerSide.boolHeader(true)],
    [HEADER.isFirstOfGroup, routerSide.boolHeader(true)],
  ])
  const beat = setInterval(() => write(socket, CONTENT_TYPE.heartbeat, 2, new Uint8Array(0), []), HEARTBEAT_MS)
  socket.once('close', () => {
    clearInterval(beat)
    console.error(`the controller closed the channel of ${routerId}`)
    process.exit(1)
  })
  let isWelcome = false
  socket.on(
    'data',
    frameCounter((contentType) => {
      if (!isWelcome) {
        isWelcome = true
        const wish = { subscriptionDurationSeconds: 300, subscriptionId: 'bench' }
        write(socket, CONTENT_TYPE.subscribeToModel, 1, routerSide.Subscribe.encode(wish), [])
      }
      if (contentType === CONTENT_TYPE.modelState) tell('states')
      if (contentType === CONTENT_TYPE.modelChanges) tell('changes')
    }),
  )
}

function write(
  socket: Socket,
  contentType: number,
  sequence: number,
  body: Uint8Array,
  headers: readonly (readonly [number, Uint8Array])[],
): void {
  socket.write(Buffer.concat(encodeFrame({ contentType, sequence, headers: new Map(headers), body: [body] })))
}

function tell(what: keyof typeof arrived): void {
  arrived[what] += 1
  if (arrived[what] % routerIds.length === 0) process.send?.(what)
}

/** Calls back for every frame that is over; what is in it is not kept. */
function frameCounter(onFrame: (contentType: number) => void): (bytes: Buffer) => void {
  let head = Buffer.alloc(0)
  let left = 0
  let contentType = 0
  return (bytes) => {
    let rest = bytes
    while (rest.length > 0) {
      if (left === 0) {
        const missing = HEAD_BYTES - head.length
        head = Buffer.concat([head, rest.subarray(0, missing)])
        rest = rest.subarray(missing)
        if (head.length < HEAD_BYTES) return
        contentType = head.readInt32LE(4)
        left = head.readUInt32LE(12) + head.readUInt32LE(16)
        head = Buffer.alloc(0)
      }
      const part = Math.min(left, rest.length)
      left -= part
      rest = rest.subarray(part)
      if (left === 0) onFrame(contentType)
    }
  }
}

process.on('message', () => {
  for (const routerId of routerIds) play(routerId)
})
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
