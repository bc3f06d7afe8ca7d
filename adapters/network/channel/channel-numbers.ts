/** The content types that every channel has: of controllers, routers and endpoints. */
export const CHANNEL_TYPE = { hello: 0, ping: 1, result: 2, latency: 3, heartbeat: 5 } as const

/** The keys of header values that every channel has. The hello of a link gives some of the numbers to further values. */
export const CHANNEL_HEADER = {
  connectionId: 0,
  /** The number of the message that an answer is for. */
  replyFor: 1,
  success: 2,
  heartbeat: 5,
  heartbeatResponse: 6,
  /** Which of the sockets of a channel it is, as `link.ack`. */
  underlayType: 7,
  id: 8,
  isGrouped: 9,
  groupSecret: 10,
  isFirstOfGroup: 11,
  /** Of a latency probe the time of its sender, which is given back as it is. */
  reflected: 128,
} as const

/** The sequence of a hello and of its answer, which are outside the numbering of messages. */
export const HELLO_SEQUENCE = -1
