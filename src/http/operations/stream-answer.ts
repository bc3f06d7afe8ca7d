/** A text that is sent piece by piece. */
export interface TextSource {
  /** Waits for the next piece; undefined at the end. */
  next(): Promise<string | undefined>
  /** Ends the source: the client is gone, or the text is complete. */
  close(): void
}

/** How long (ms) a browser waits before it reopens a stream of events that was cut. */
const RETRY_MS = 3000

/** The media type of events in the form of the standard of browsers. */
export const EVENT_STREAM = 'text/event-stream'
/** The media type of one JSON value in each line. */
export const JSON_LINES = 'application/jsonl'

/** The form among `forms` that a request asks for by name; undefined where it asks for none of them. */
export function streamAskedFor<F extends string>(accept: string | null, forms: readonly F[]): F | undefined {
  const asked = (accept ?? '').toLowerCase()
  return forms.find((form) => asked.includes(form))
}

/** A text in the place of the data of an operation, read from its source as fast as the client reads. */
export function streamAnswer<D>(
  form: typeof EVENT_STREAM | typeof JSON_LINES,
  source: TextSource,
): { readonly data: D } {
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        if (form === EVENT_STREAM) controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`))
      },
      pull: async (controller) => {
        try {
          const text = await source.next()
          if (text === undefined) {
            source.close()
            controller.close()
          } else controller.enqueue(encoder.encode(text))
        } catch (error) {
          source.close()
          controller.error(error)
        }
      },
      cancel: () => source.close(),
    },
    { highWaterMark: 1 },
  )
  const streamed = { stream, headers: { 'content-type': `${form}; charset=utf-8`, 'x-accel-buffering': 'no' } }
  // The pipeline sends the stream instead of the data; no schema describes a stream.
  return streamed as unknown as { readonly data: D }
}
