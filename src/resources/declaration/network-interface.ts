import { z } from 'zod'
import { described } from './words.ts'

/** A network interface of a host, as a router or a client reports it. */
export const NetworkInterface = described(
  z.object({
    addresses: z.array(z.string()).nullable(),
    hardwareAddress: z.string(),
    index: z.int(),
    isBroadcast: z.boolean(),
    isLoopback: z.boolean(),
    isMulticast: z.boolean(),
    isRunning: z.boolean(),
    isUp: z.boolean(),
    mtu: z.int(),
    name: z.string(),
  }),
  {
    addresses: 'Its addresses, each with the length of its prefix; null when none is known.',
    hardwareAddress: 'Its MAC address.',
    index: 'Its number on the host, from 1.',
    isBroadcast: 'Whether it can send to all.',
    isLoopback: 'Whether it leads back to the host.',
    isMulticast: 'Whether it can send to groups.',
    isRunning: 'Whether it is in operation.',
    isUp: 'Whether it is switched on.',
    mtu: 'The largest packet that it takes, in bytes.',
    name: 'Its name on the host, as `eth0`.',
  },
)
