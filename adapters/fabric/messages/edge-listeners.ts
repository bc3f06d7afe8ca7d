import type { EdgeListener } from '../../../src/index.ts'
import type { MessageOf } from '../protobuf/index.ts'
import type { ClientHello } from './edge-definitions.ts'

/** Where a router is reached by clients; an older one tells protocols and ports beside its host name. */
export function edgeListeners(hello: MessageOf<typeof ClientHello>): readonly EdgeListener[] {
  const listeners = hello.listeners.flatMap((listener) => {
    const { protocol = '', hostname = '', port = 0 } = listener.advertise ?? {}
    return protocol === '' ? [] : [{ protocol, advertise: `${bracketed(hostname)}:${port}` }]
  })
  if (listeners.length > 0) return listeners
  return hello.protocols.map((protocol, position) => ({
    protocol,
    advertise: `${bracketed(hello.hostname)}:${hello.protocolPorts[position] ?? ''}`,
  }))
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
