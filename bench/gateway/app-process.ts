// A web app and the check of cookies beside it: what nginx leads to, and asks before. `/bytes/N` answers N bytes.
import { createServer } from 'node:http'

const PIECE = Buffer.alloc(65_536, 'x')

process.once('message', () => {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://app')
    if (pathname === '/auth') {
      response.writeHead(request.headers.cookie === 'session=good' ? 204 : 401).end()
      return
    }
    let left = Number(pathname.slice('/bytes/'.length))
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': left })
    const more = () => {
      while (left > 0) {
        const piece = PIECE.subarray(0, left)
        left -= piece.length
        if (!response.write(piece)) {
          response.once('drain', more)
          return
        }
      }
      response.end()
    }
    more()
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
})
