// Runs a router of ours in a process of its own. Its first message is the identity; it answers where it is reached, and from then
// on every question by what it holds and for how long its event loop was held at once since it was asked last.
import { runRouter } from '../../adapters/network/router/standalone-router.ts'
import { tellWhenAsked } from './measured-process.ts'

process.once('message', async (identity: Parameters<typeof runRouter>[0]['identity']) => {
  const router = await runRouter({ identity, listen: '127.0.0.1:0', advertise: '127.0.0.1:0' })
  process.send?.({ address: router.address })
  tellWhenAsked()
})
