/** Turns of the event loop that bring nothing new until all work counts as done: a stream of Node hands on in a later turn. */
const QUIET_TURNS = 2
/** The most turns that are waited for: two endpoints may talk for ever. A dial takes some twenty. */
const MOST_TURNS = 200

/** Kept here because a test may replace the global one by a clock of its own. */
const { setImmediate } = globalThis
const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))

const ONE_BYTE = new Uint8Array(1)

/** Waits for the threads that sign and verify: they take work in the order in which it was given. */
const threads = () => crypto.subtle.digest('SHA-256', ONE_BYTE)

/**
 * Resolves when the work of this process that no timer has to set off is done: requests that are being answered, messages between
 * endpoints, signatures that are being verified. Without this a test could let seconds pass by its clock in less time than one signature
 * takes, and every dial would time out. Sockets and other threads are not waited for.
 */
export async function workUnderWay(): Promise<void> {
  for (let quiet = 0, turns = 0; quiet < QUIET_TURNS && turns < MOST_TURNS; turns += 1) {
    await turn()
    await threads()
    quiet = process.getActiveResourcesInfo().includes('Immediate') ? 0 : quiet + 1
  }
}
