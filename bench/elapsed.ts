/** Milliseconds that work takes. */
export async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** Milliseconds that work takes on the average of some rounds, after one to warm up. */
export async function milliseconds(rounds: number, work: (round: number) => Promise<unknown>): Promise<number> {
  await work(0)
  const total = await elapsed(async () => {
    for (let round = 0; round < rounds; round += 1) await work(round)
  })
  return total / rounds
}
