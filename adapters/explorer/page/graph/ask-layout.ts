import type { Box, Layout, Line } from './layout.ts'
import type { LayoutQuestion } from './layout-worker.ts'

interface LayoutAnswer {
  readonly number: number
  readonly layout: Layout
}

let worker: Worker | undefined
let asked = 0
const WAITING = new Map<number, (layout: Layout) => void>()

/** Lays boxes out in a worker, so that the page goes on answering meanwhile. */
export function askLayout(boxes: readonly Box[], lines: readonly Line[]): Promise<Layout> {
  worker ??= startWorker()
  asked += 1
  const question: LayoutQuestion = { number: asked, boxes, lines }
  worker.postMessage(question)
  return new Promise((resolve) => WAITING.set(question.number, resolve))
}

function startWorker(): Worker {
  const started = new Worker(new URL('layout-worker.js', document.baseURI), { type: 'module' })
  started.addEventListener('message', ({ data }: MessageEvent<LayoutAnswer>) => {
    WAITING.get(data.number)?.(data.layout)
    WAITING.delete(data.number)
  })
  return started
}
