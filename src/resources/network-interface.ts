import { z } from 'zod'

/** A network interface of a host, as a router or a client reports it. */
export const NetworkInterface = z.object({
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
})
