/** Whether `npm test` runs, which has in short what `npm run test:slow`, or a run of a single file, has in full. */
export const IS_SHORT = process.env.PORTCULLIS_SUITE === 'short'

/** Whether `npm run test:slow` or `test:long` runs, which try a third of what a run of a single file tries at random. */
export const IS_SLOW_SUITE = process.env.PORTCULLIS_SUITE === 'slow' || process.env.PORTCULLIS_SUITE === 'long'
